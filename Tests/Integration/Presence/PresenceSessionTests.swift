import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

/// Opening, replacing, resuming, detaching and ending sessions, over a real Redis and PostgreSQL.
@Suite struct PresenceSessionTests {
    /// Joins a server to the app's channel of logins; it hears JSON texts, compared without their time.
    private func observer(_ stage: ServicesStage, _ gateway: StageGateway) async throws -> ChannelKey {
        let channel = try stage.channel("__agora_user_online")
        try await gateway.listen(to: channel)
        let server = try await stage.login("server", on: gateway)
        _ = try await gateway.send(JoinChannel(actor: server.actor, channel: channel.name))
        return channel
    }

    private func announcements(_ gateway: StageGateway, _ channel: ChannelKey) throws -> [String] {
        try gateway.heard(in: channel).map { event in
            guard case .message(let body) = event.kind else { return "not a message" }
            let json = try JSONValue.parse(Array(body.utf8))
            return "\(json["event"]?.string ?? "?") \(json["account"]?.string ?? "?") \(json["reason"]?.integer ?? -1)"
        }
    }

    @Test func aLoginIsRecordedAndAnnounced() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let special = try await observer(stage, gateway)
            let first = try await stage.login("alice:{1}", on: gateway)
            #expect(first.uid > 0)
            #expect(try await gateway.send(QueryUserStatus(user: first.line.user)).online)
            #expect(try await !gateway.send(QueryUserStatus(user: try stage.user("nobody"))).online)
            #expect(try await stage.sessionField("alice:{1}", "gateway") == gateway.id.rawValue)
            _ = try await gateway.send(
                CloseSession(user: first.line.user, session: first.line.session, reason: .leaveLogout))
            #expect(try await !gateway.send(QueryUserStatus(user: first.line.user)).online)
            try await waitUntil("the announcements") {
                let heard = try announcements(gateway, special)
                return heard == ["online alice:{1} 0", "offline alice:{1} 603"] ? nil : "\(heard)"
            }
            try await stage.expectRows("SELECT account || ' ' || state AS line FROM online_users", ["server online"])
            // The account keeps its uid.
            #expect(try await stage.login("alice:{1}", on: gateway).uid == first.uid)
        }
    }

    @Test func aSecondLoginReplacesTheFirst() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let special = try await observer(stage, two)
            let room = try stage.channel("room")
            try await two.listen(to: room)
            let first = try await stage.login("alice", on: one)
            _ = try await one.send(JoinChannel(actor: first.actor, channel: room.name))
            let second = try await stage.login("alice", on: two)
            #expect(first.uid == second.uid)
            try await waitUntil("the kick") {
                one.events == [.kicked(first.line.session, .logoutKicked)] ? nil : "\(one.events)"
            }
            try await waitUntil("the leave") {
                let heard = two.heard(in: room).map(\.summary)
                return heard == ["alice joined", "alice left"] ? nil : "\(heard)"
            }
            #expect(try announcements(two, special) == ["online alice 0"])
            // Late acts of the replaced session have no effect.
            _ = try await one.send(DetachSession(gateway: one.id, user: first.line.user, session: first.line.session))
            _ = try await one.send(
                CloseSession(user: first.line.user, session: first.line.session, reason: .leaveLogout))
            #expect(try await stage.sessionField("alice", "sid") == second.line.session.rawValue)
            #expect(try await stage.sessionField("alice", "state") == "online")
        }
    }

    @Test func aSessionMovesWithItsSecret() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let session = try await stage.login("alice", on: one)
            let room = try ChannelName("room")
            _ = try await one.send(JoinChannel(actor: session.actor, channel: room))
            let wrong = Line(user: session.line.user, session: session.line.session, secret: TestLine.otherSecret)
            #expect(try await two.refusal(ResumeSession(gateway: two.id, line: wrong))?.reason == .badLine)
            let resumed = try await two.send(ResumeSession(gateway: two.id, line: session.line))
            #expect(resumed.uid == session.uid && resumed.channel == room && !resumed.push)
            #expect(resumed.hold.since == session.hold.since && resumed.hold.claim > session.hold.claim)
            try await waitUntil("the move") { one.events == [.moved(session.line.session)] ? nil : "\(one.events)" }
            // A resume at the same gateway is announced to nobody.
            _ = try await two.send(ResumeSession(gateway: two.id, line: session.line))
            #expect(two.events.isEmpty)
        }
    }

    @Test func theAddressIsThatOfTheLatestConnection() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let session = try await stage.login("alice", on: one)
            #expect(try await stage.sessionField("alice", "address") == StageSession.address)
            _ = try await one.send(
                DetachSession(gateway: one.id, user: session.line.user, session: session.line.session))
            #expect(try await stage.sessionField("alice", "address") == StageSession.address, "it may be banned still")
            var resume = ResumeSession(gateway: two.id, line: session.line)
            resume.address = "2001:db8::9"
            _ = try await two.send(resume)
            #expect(try await stage.sessionField("alice", "address") == "2001:db8::9")
            // A gateway of a release that does not tell it.
            resume.address = nil
            _ = try await two.send(resume)
            #expect(try await stage.sessionField("alice", "address") == "", "not that of the connection before")
            _ = try await two.send(
                CloseSession(user: session.line.user, session: session.line.session, reason: .leaveLogout))
            #expect(try await stage.sessionField("alice", "address") == nil, "it goes with the session")
        }
    }

    @Test func theAddressIsRecordedAgain() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await stage.redis("FLUSHALL")
            _ = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [session.held()]))
            #expect(try await stage.sessionField("alice", "address") == StageSession.address)
            // Another gateway has taken the session over, and Redis has lost that.
            var held = session.held()
            held.hold.claim = .max / 1024
            held.address = "2001:db8::9"
            let two = try await stage.gateway("g2")
            _ = try await two.send(ReassertSessions(gateway: two.id, sessions: [held]))
            #expect(try await stage.sessionField("alice", "address") == "2001:db8::9")
        }
    }

    @Test func theMailboxTellsWhereTheSessionIs() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let line = try await stage.login("alice", on: one).line
            func place() async throws -> [String?]? {
                try await stage.redis("HMGET", KeySpace.tag(line.user) + ":box", "sid", "gateway").array?.map(\.string)
            }
            let session = line.session.rawValue
            #expect(try await place() == [session, one.id.rawValue])
            _ = try await one.send(DetachSession(gateway: one.id, user: line.user, session: line.session))
            #expect(try await place() == [session, ""])
            _ = try await two.send(ResumeSession(gateway: two.id, line: line))
            #expect(try await place() == [session, two.id.rawValue])
            _ = try await two.send(CloseSession(user: line.user, session: line.session, reason: .leaveLogout))
            #expect(try await place() == ["", ""])
        }
    }

    @Test func aDetachedSessionEndsWhenItsTimeIsOver() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let special = try await observer(stage, gateway)
            let room = try stage.channel("room")
            try await gateway.listen(to: room)
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name))
            // Shorter than any setting allows, so that the test need not wait for 20 s.
            _ = try await stage.redis("HSET", KeySpace.tag(session.line.user) + ":session", "timeout", "1")
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session))
            #expect(try await gateway.send(QueryUserStatus(user: session.line.user)).online)
            #expect(gateway.heard(in: room).map(\.summary) == ["alice joined"])
            try await waitUntil("the leave") {
                gateway.heard(in: room).map(\.summary) == ["alice joined", "alice left"] ? nil : "still there"
            }
            try await waitUntil("the announcement") {
                let heard = try announcements(gateway, special)
                return heard == ["online alice 0", "offline alice 604"] ? nil : "\(heard)"
            }
            #expect(
                try await gateway.refusal(ResumeSession(gateway: gateway.id, line: session.line))?.reason == .badLine)
        }
    }

    @Test func aResumedSessionOutlivesItsTimer() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await stage.redis("HSET", KeySpace.tag(session.line.user) + ":session", "timeout", "0")
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session))
            let resumed = try? await gateway.send(ResumeSession(gateway: gateway.id, line: session.line))
            let member = "session app:{1} alice \(session.line.session)"
            try await waitUntil("the timer to fire") {
                try await stage.redis("ZSCORE", KeySpace.due(.presence), member).isNull ? nil : "still set"
            }
            // If the timer came first, the session was over and the resume was refused.
            #expect(try await gateway.send(QueryUserStatus(user: session.line.user)).online == (resumed != nil))
        }
    }

    @Test func aLateDetachmentDoesNotTouchTheResumedSession() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(ResumeSession(gateway: gateway.id, line: session.line))
            let detach = DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session)
            // Its deadline, before the resume's, tells that it was sent before.
            let time = try await stage.redis("TIME").array?.first?.int ?? 0
            _ = try await stage.connection.execute(
                PostedCommand.command(
                    on: .single, for: detach, id: CommandID("d1"), deadline: RedisTime(milliseconds: (time + 5) * 1000))
            )
            try await waitUntil("the stream to be empty") {
                try await stage.redis("XLEN", KeySpace.posts(.presence)).int == 0 ? nil : "commands left"
            }
            #expect(try await stage.sessionField("alice", "state") == "online")
            _ = try await gateway.send(detach)
            #expect(try await stage.sessionField("alice", "state") == "detached")
        }
    }

    /// Its deadline is later than the resume's, as when the masters that told the two have different clocks.
    @Test func theClaimTellsWhichAttachmentIsMeant() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            let former = Int64(try await stage.sessionField("alice", "claim") ?? "")
            _ = try await gateway.send(ResumeSession(gateway: gateway.id, line: session.line))
            let present = Int64(try await stage.sessionField("alice", "claim") ?? "")
            #expect(former != nil && present != nil && former != present)
            var detach = DetachSession(
                gateway: gateway.id, user: session.line.user, session: session.line.session, claim: former)
            _ = try await gateway.send(detach)
            #expect(try await stage.sessionField("alice", "state") == "online")
            detach.claim = present
            _ = try await gateway.send(detach)
            #expect(try await stage.sessionField("alice", "state") == "detached")
        }
    }

    /// A process has opened the session and died; another one gets the command, and does what follows.
    @Test func aRepetitionFindsTheSessionAndWhatItHasReplaced() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [.presence]) { scene in
            let user = UserKey(app: try AppID("app"), account: try Account("alice"))
            func open(_ session: String, at gateway: String = "g1") async throws -> [String] {
                try await scene.connection.execute(
                    .function(
                        "session_open", tag: KeySpace.tag(user), 0, .string(gateway), .string(session), "secret", 7,
                        "d",
                        0, 20, 0, "", "")
                ).texts
            }
            let first = try await open("s1")
            #expect(first.count == 5 && first[3] == "0", "nothing waits: \(first)")
            let again = try await open("s1")
            #expect(again == first[..<3] + ["", ""], "the mailbox is to be read")
            let second = try await open("s2")
            #expect(second.count == 16 && second[5] == "s1")
            // All that the end entails has been done, and the session has changed hands and come back.
            _ = try await scene.connection.execute(.function("session_ended", tag: KeySpace.tag(user), "s1"))
            let resumed = RedisCommand.function(
                "session_resume", tag: KeySpace.tag(user), "r", 0, "g1", "s2", "secret", "")
            let claim = try await scene.connection.execute(resumed).texts[7]
            #expect(try await open("s2") == second[..<2] + [claim, "", ""] + second[5...])
            await #expect(throws: RedisError.self, "it is over") { try await open("s1") }
            await #expect(throws: RedisError.self, "it is at another gateway") { try await open("s2", at: "g2") }
        }
    }

    /// The gateway's search finds the routes of detached sessions once a minute.
    @Test func aDetachmentThatIsReportedAgainChangesNothingUntilTheSessionIsOver() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [.presence]) { scene in
            let tag = KeySpace.tag(UserKey(app: try AppID("app"), account: try Account("alice")))
            func detach(_ command: String, since asof: RedisArgument = 0) async throws -> [String] {
                try await scene.connection.execute(
                    .function("session_detach", tag: tag, .string(command), 0, "g1", "s1", asof, 0)
                ).texts
            }
            let opening: [RedisArgument] = [0, "g1", "s1", "secret", 7, "d", 0, 20, 0, "", ""]
            _ = try await scene.connection.execute(.function("session_open", tag: tag, arguments: opening))
            let first = try await detach("d1")
            #expect(first.count == 5)
            #expect(try await detach("d1") == first, "the same command is delivered again")
            #expect(try await detach("d2") == [])
            // Whoever has found the gateway lost may have died before the timer was set.
            #expect(try await detach("d3", since: 1).first == first.first)
            // The timer is lost, with the master that had it.
            _ = try await scene.connection.execute(RedisCommand("HSET", key: tag + ":session", "detached", "1"))
            #expect(try await detach("d4").first == "20001")
        }
    }

    @Test func whoLogsInOrResumesIsToldWhetherMailWaits() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let user = try stage.user("alice")
            func opened(_ session: String) async throws -> EmptyMailbox? {
                let line = Line(user: user, session: SessionID(session), secret: TestLine.secret)
                let mail = try await gateway.send(
                    OpenSession(gateway: gateway.id, line: line, device: "test", push: false)
                ).mail
                #expect(try await gateway.send(ResumeSession(gateway: gateway.id, line: line)).mail == mail)
                return mail
            }
            #expect(try await opened("s1")?.cleared == 0)
            let box = KeySpace.tag(user) + ":box"
            let waits = Int64(4_000_000_000_000)
            _ = try await stage.redis("HSET", box, "ver", "700", "clear", "600", "expires", "\(waits)")
            #expect(try await opened("s2") == nil)
            _ = try await stage.redis("HSET", box, "clear", "700")
            #expect(try await opened("s3") == EmptyMailbox(cleared: 700, highest: 700), "all is forgotten")
            _ = try await stage.redis("HSET", box, "clear", "600", "expires", "1")
            #expect(try await opened("s4") == EmptyMailbox(cleared: 600, highest: 700), "all has expired")
        }
    }

    @Test func aRepeatedCommandTakesEffectOnce() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let special = try await observer(stage, gateway)
            let line = Line(user: try stage.user("alice"), session: SessionID("s1"), secret: TestLine.secret)
            let open = OpenSession(gateway: gateway.id, line: line, device: "test", push: false)
            for _ in 0..<5 {
                _ = try await stage.connection.execute(
                    PostedCommand.command(on: .single, for: open, id: CommandID("c1")))
            }
            let later = try await stage.login("alice", on: gateway)
            // The command is delivered again after a newer login: its session must not come back.
            _ = try await stage.connection.execute(PostedCommand.command(on: .single, for: open, id: CommandID("c1")))
            try await waitUntil("the stream to be empty") {
                try await stage.redis("XLEN", KeySpace.posts(.presence)).int == 0 ? nil : "commands left"
            }
            #expect(try await stage.sessionField("alice", "sid") == later.line.session.rawValue)
            #expect(gateway.events == [.kicked(SessionID("s1"), .logoutKicked)])
            #expect(try announcements(gateway, special) == ["online alice 0"])
        }
    }
}
