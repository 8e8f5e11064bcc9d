import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import MessageStore
import PostgresStore
import PresenceLogic
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import PresenceServer

/// Reconciles the gateways' sessions with Redis after Redis has lost data.
@Suite struct PresenceReconciliationTests {
    private func tag(_ session: StageSession) -> String { KeySpace.tag(session.line.user) }

    @Test func ofTwoLoginsThatRedisForgotTheLaterOneCounts() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let older = try await stage.login("alice", on: one)
            try await waitUntil("the clock to go on") {
                let now = try await stage.connection.time()
                return now > older.hold.since ? nil : "the same millisecond"
            }
            let newer = try await stage.login("alice", on: two)
            _ = try await stage.redis("FLUSHALL")
            // The gateway that missed the kick reasserts first.
            let first = try await one.send(ReassertSessions(gateway: one.id, sessions: [older.held()]))
            #expect(first.held.map(\.session) == [older.line.session])
            let second = try await two.send(ReassertSessions(gateway: two.id, sessions: [newer.held()]))
            #expect(second.held.map(\.session) == [newer.line.session])
            #expect(try await stage.sessionField("alice", "sid") == newer.line.session.rawValue)
            let kick = GatewayEvent.kicked(older.line.session, .logoutKicked)
            try await waitUntil("the kick") { one.events.contains(kick) ? nil : "\(one.events)" }
            let again = try await one.send(ReassertSessions(gateway: one.id, sessions: [older.held()]))
            #expect(again.lost == [.init(session: older.line.session, code: .logoutKicked)])
        }
    }

    @Test func ofTwoGatewaysTheLaterOneHasTheSession() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let session = try await stage.login("alice", on: one)
            var moved = session
            moved.hold = try await two.send(ResumeSession(gateway: two.id, line: session.line)).hold
            // Redis loses the move to the other gateway.
            _ = try await stage.redis(
                "HSET", tag(session) + ":session", "gateway", one.id.rawValue, "claim", "\(session.hold.claim)")
            #expect(
                try await one.send(ReassertSessions(gateway: one.id, sessions: [session.held()])).held.count == 1)
            #expect(try await two.send(ReassertSessions(gateway: two.id, sessions: [moved.held()])).held.count == 1)
            #expect(try await stage.sessionField("alice", "gateway") == two.id.rawValue)
            let late = try await one.send(ReassertSessions(gateway: one.id, sessions: [session.held()]))
            #expect(late.lost == [.init(session: session.line.session, code: nil)])
        }
    }

    @Test func aDetachedSessionWithAConnectionIsAttachedAndItsMailboxTold() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session))
            let sent = try await gateway.messages.sendToUser(
                UserMessage(to: session.line.user, line: "stuck", timeToLive: .seconds(60)))
            let answer = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [session.held()]))
            #expect(answer.held == [.init(session: session.line.session, mailbox: sent.version)])
            #expect(try await stage.sessionField("alice", "state") == "online")
            #expect(try await stage.redis("HGET", tag(session) + ":box", "gateway").string == gateway.id.rawValue)
        }
    }

    @Test func aSessionThatTheClusterEndedIsToldSo() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await stage.redis("HSET", tag(session) + ":session", "timeout", "0")
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session))
            let end = GatewayEvent.kicked(session.line.session, .logoutNetwork)
            try await waitUntil("the end") { gateway.events.contains(end) ? nil : "\(gateway.events)" }
            let answer = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [session.held()]))
            #expect(answer.lost == [.init(session: session.line.session, code: .logoutNetwork)])
        }
    }

    @Test func aReplacedSessionThatResumesIsToldSo() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await stage.login("alice", on: gateway)
            let refusal = try await gateway.refusal(ResumeSession(gateway: gateway.id, line: session.line))
            #expect(refusal?.code == .logoutKicked)
            // A caller with a wrong secret learns nothing about the session.
            let wrong = Line(user: session.line.user, session: session.line.session, secret: TestLine.otherSecret)
            #expect(try await gateway.refusal(ResumeSession(gateway: gateway.id, line: wrong))?.reason == .badLine)
        }
    }

    @Test func aLeaveThatRedisForgotIsDoneAgainInSilence() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            try await gateway.listen(to: room)
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name, moveNumber: 1))
            // The gateway knows of the session's leave, which has number 2.
            let held = session.held(moveNumber: 2)
            _ = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [held]))
            try await waitUntil("the member to be forgotten") {
                try await gateway.send(CountMembers(channel: room)).count == 0 ? nil : "still there"
            }
            #expect(try await stage.sessionField("alice", "channel") == nil)
            try await waitUntil("nothing left to be left") {
                try await stage.sessionField("alice", "leaving") == nil ? nil : "recorded"
            }
            #expect(gateway.heard(in: room).map(\.summary) == ["alice joined"])
            try await stage.expectRows("SELECT account AS line FROM channel_member_list", [])
        }
    }

    @Test func aLeaveThatCrossesTheReassertionIsNotUndone() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name, moveNumber: 1))
            let leave = LeaveChannel(actor: session.actor, channel: room.name, reason: .leaveByUser, moveNumber: 2)
            _ = try await gateway.send(leave)
            // The session's state before the leave, in a reassertion that is handled after it.
            let held = session.held(moveNumber: 1, channel: room.name)
            _ = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [held]))
            #expect(try await stage.sessionField("alice", "channel") == nil)
            let members = try await gateway.send(ReassertMembers(channel: room, members: [session.member]))
            #expect(members.unknown == [session.line.session])
            #expect(try await gateway.send(CountMembers(channel: room)).count == 0)
        }
    }

    @Test func aJoinThatWasOvertakenHasNoEffect() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let (one, two) = (try ChannelName("one"), try ChannelName("two"))
            let session = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: session.actor, channel: two, moveNumber: 2))
            let late = JoinChannel(actor: session.actor, channel: one, moveNumber: 1)
            #expect(try await gateway.refusal(late)?.reason == .superseded)
            #expect(try await stage.sessionField("alice", "channel") == "two")
        }
    }

    @Test func clientsHaveTimeAfterRedisIsBack() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            let functions = PresenceFunctions(redis: stage.connection)
            let now = try await stage.connection.time()
            let long = now + .seconds(-3600)
            _ = try await stage.redis(
                "HSET", tag(session) + ":session", "state", "detached", "detached", "\(long)", "timeout", "20")
            let (user, id) = (session.line.user, session.line.session)
            #expect(try await functions.due(user, id, since: now) == .wait(until: now + .seconds(10)))
            guard case .ended = try await functions.due(user, id, since: long) else {
                Issue.record("not ended")
                return
            }
        }
    }

    @Test func whatEndsOrKeepsAliveNeedsNoMemory() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            let other = try await stage.login("bob", on: gateway)
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "1mb")
            let functions = PresenceFunctions(redis: stage.connection)
            #expect(try await gateway.leases.heartbeat(gateway.id, .ofTest))
            let route = SessionRoute(user: session.line.user, session: session.line.session)
            let detached = try PresenceFunctions.detached(
                try await stage.connection.answer(
                    to: PresenceFunctions.detach(
                        route, from: gateway.id, .connectionLost(claim: nil), CommandContext(id: CommandID("d")))))
            guard case .detached = detached else {
                Issue.record("\(detached)")
                return
            }
            let held = try PresenceFunctions.reasserted(
                try await functions.redis.answer(to: PresenceFunctions.reassert(session.held(), on: gateway.id)))
            guard case .held = held else {
                Issue.record("\(held)")
                return
            }
            let command = CloseSession(user: other.line.user, session: other.line.session, reason: .leaveLogout)
            #expect(try await functions.close(command, CommandID("c"), deadline: nil) != nil)
            let timers = DueTimers(service: .presence, connection: stage.connection)
            try await timers.schedule("session x", at: RedisTime(milliseconds: 1))
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "0")
        }
    }

    @Test func aLogoutAndWhatFollowsFromItNeedNoMemory() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let session = try await stage.login("alice", on: gateway)
            let other = try await stage.login("bob", on: gateway)
            for session in [session, other] {
                _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name, moveNumber: 1))
            }
            // A watcher, which is notified when alice goes offline.
            let watcher = try await stage.login("carol", on: gateway)
            _ = try await gateway.send(
                JoinChannel(actor: watcher.actor, channel: ChannelName(.userOnline), moveNumber: 1))
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "1mb")
            let join = JoinChannel(actor: other.actor, channel: room.name, moveNumber: 2)
            #expect(try await gateway.refusal(join) == .memoryFull)
            let close = CloseSession(user: session.line.user, session: session.line.session, reason: .leaveLogout)
            _ = try await gateway.send(close)
            try await waitUntil("alice is not in the room any more") {
                let count = try await stage.redis("ZCARD", KeySpace.tag(room) + ":members").int
                return count == 1 ? nil : "\(count ?? -1) members"
            }
            try await stage.expectRows("SELECT account AS line FROM online_users ORDER BY 1", ["bob", "carol"])
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "0")
        }
    }

    @Test func whatAnEmptyRedisForgotEnds() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let stays = try await stage.login("alice", on: gateway)
            let gone = try await stage.login("bob", on: gateway)
            for session in [stays, gone] {
                _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name, moveNumber: 1))
            }
            try await stage.expectRows(
                "SELECT account AS line FROM channel_member_list ORDER BY 1", ["alice", "bob"])
            // A row that is written later is too young to be checked below.
            try await stage.expectRows("SELECT account AS line FROM online_users ORDER BY 1", ["alice", "bob"])
            _ = try await stage.redis("FLUSHALL")
            let held = ReassertSessions(gateway: gateway.id, sessions: [stays.held(moveNumber: 1, channel: room.name)])
            _ = try await gateway.send(held)
            _ = try await stage.pool.query("UPDATE presence_sessions SET updated_at = updated_at - interval '1 hour'")
            let functions = PresenceFunctions(redis: stage.connection)
            let uptime = RedisUptime(connection: stage.connection)
            let asking = Task { try await uptime.run() }
            try await waitUntil("an answer") { await uptime.since(ofSlot: 0) == nil ? "none" : nil }
            let check = SessionMirrorCheck(
                functions: functions, store: MirrorStore(pool: stage.pool),
                ending: SessionEnding(
                    functions: functions,
                    timers: ServiceTimers(
                        service: .presence, connection: stage.connection, logger: ServicesStage.silent),
                    logger: ServicesStage.silent),
                uptime: uptime, settling: .zero)
            try await check.round {}
            asking.cancel()
            _ = try await asking.value
            try await stage.expectRows("SELECT account AS line FROM online_users ORDER BY 1", ["alice"])
            #expect(
                try await gateway.refusal(ResumeSession(gateway: gateway.id, line: gone.line))?.reason == .badLine)
            let answer = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: [gone.held()]))
            #expect(answer.lost == [.init(session: gone.line.session, code: .logoutNetwork)])
        }
    }

    @Test func nobodyIsLostBeforeRedisHasBeenUpForALease() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            _ = try await stage.login("alice", on: gateway)
            try await gateway.id.expire(on: stage.connection)
            let (due, other) = (KeySpace.due(.presence), "session app:{1} nobody s")
            _ = try await stage.redis("ZADD", due, "0", "gateway \(gateway.id)", "0", other)
            // Timers that are claimed together are also finished together.
            try await waitUntil("the timers to be done") {
                try await stage.redis("ZSCORE", due, other).isNull ? nil : "the other is still set"
            }
            #expect(try await !stage.redis("ZSCORE", due, "gateway \(gateway.id)").isNull, "it is looked at again")
            #expect(try await stage.sessionField("alice", "state") == "online")
        }
    }
}
