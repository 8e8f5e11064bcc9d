import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import ChannelStateServer

/// Members of channels, over a real Redis and PostgreSQL.
@Suite struct ChannelStateMemberTests {
    private func heard(_ gateway: StageGateway, _ channel: ChannelKey, _ summaries: [String]) async throws {
        try await waitUntil("\(summaries)") {
            let found = gateway.heard(in: channel).map(\.summary)
            return found == summaries ? nil : "\(found)"
        }
    }

    @Test func joinsAndLeavesAreNumberedAndHeard() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("a room: {1}")
            try await gateway.listen(to: room)
            let (alice, bob) = (try await stage.login("alice", on: gateway), try await stage.login("bob", on: gateway))
            let first = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
            let second = try await gateway.send(JoinChannel(actor: bob.actor, channel: room.name))
            #expect(first.members.all.map(\.account.rawValue) == ["alice"])
            #expect(second.members.all.map(\.account.rawValue) == ["bob", "alice"])
            #expect(second.members.all.map(\.uid) == [bob.uid, alice.uid])
            #expect(second.sequence == first.sequence + 1)
            // Joining again changes nothing but the position from which a resume continues.
            var again = try await gateway.send(JoinChannel(actor: bob.actor, channel: room.name))
            #expect(again.id > second.id)
            again.id = second.id
            #expect(again == second)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 2)
            #expect(try await gateway.send(QueryMember(channel: room, account: bob.line.user.account)).isMember)
            _ = try await gateway.send(LeaveChannel(actor: bob.actor, channel: room.name, reason: .leaveByUser))
            _ = try await gateway.send(LeaveChannel(actor: bob.actor, channel: room.name, reason: .leaveByUser))
            #expect(try await !gateway.send(QueryMember(channel: room, account: bob.line.user.account)).isMember)
            try await heard(gateway, room, ["alice joined", "bob joined", "bob left"])
            let events = gateway.heard(in: room)
            #expect(events.map(\.sequence) == (0..<3).map { first.sequence + $0 })
            #expect(zip(events, events.dropFirst()).allSatisfy { $0.id < $1.id })
            #expect(try await stage.sessionField("bob", "channel") == nil)
            try await stage.expectRows(
                "SELECT channel || ' ' || account AS line FROM channel_member_list", ["a room: {1} alice"])
        }
    }

    @Test func aJoinLeavesTheOtherChannel() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let (one, two) = (try stage.channel("one"), try stage.channel("two"))
            try await gateway.listen(to: one)
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: one.name))
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: two.name))
            try await heard(gateway, one, ["alice joined", "alice left"])
            #expect(try await gateway.send(CountMembers(channel: one)).count == 0)
            #expect(try await stage.sessionField("alice", "channel") == "two")
            #expect(try await stage.sessionField("alice", "leaving") == nil)
        }
    }

    @Test func aSessionThatIsOverCannotJoin() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let old = try await stage.login("alice", on: gateway)
            _ = try await stage.login("alice", on: gateway)
            let join = JoinChannel(actor: old.actor, channel: try ChannelName("room"))
            #expect(try await gateway.refusal(join)?.code == .notLoggedIn)
        }
    }

    @Test func aRepeatedJoinIsOneEvent() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            try await gateway.listen(to: room)
            let alice = try await stage.login("alice", on: gateway)
            let join = JoinChannel(actor: alice.actor, channel: room.name)
            for _ in 0..<10 {
                _ = try await stage.connection.execute(
                    PostedCommand.command(on: .single, for: join, id: CommandID("j1")))
            }
            try await waitUntil("the stream to be empty") {
                try await stage.redis("XLEN", KeySpace.posts(.channelState)).int == 0 ? nil : "commands left"
            }
            try await heard(gateway, room, ["alice joined"])
            #expect(try await stage.redis("HGET", KeySpace.tag(room) + ":state", "joins").int == 1)
        }
    }

    @Test func aRepeatedJoinIsAnsweredAsOfNow() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let (alice, bob) = (try await stage.login("alice", on: gateway), try await stage.login("bob", on: gateway))
            let functions = ChannelFunctions(redis: stage.connection)
            let id = CommandID("j1")
            let first = try await functions.join(alice.actor, room, id, deadline: nil)
            // Redis was unavailable, and the answer to the join is lost.
            let other = try await gateway.send(JoinChannel(actor: bob.actor, channel: room.name))
            let again = try await functions.join(alice.actor, room, id, deadline: nil)
            #expect(again.answer.members.all.map(\.account.rawValue) == ["bob", "alice"])
            #expect(again.answer.sequence == other.sequence && again.answer.id == other.id, "bob's join is no news")
            #expect(again.change == first.change)
        }
    }

    @Test func specialChannelsAnnounceOtherChannelsMembersAndNotTheirOwn() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let special = try stage.channel("_agora_channel_event")
            #expect(special == (try stage.channel("__agora_channel_event")))
            try await gateway.listen(to: special)
            let server = try await stage.login("server", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: server.actor, channel: special.name))
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: try ChannelName("room")))
            _ = try await gateway.send(
                LeaveChannel(actor: alice.actor, channel: try ChannelName("room"), reason: .leaveByUser))
            try await waitUntil("two announcements") { gateway.heard(in: special).count == 2 ? nil : "fewer" }
            let bodies = try gateway.heard(in: special).map { event -> String in
                guard case .message(let body) = event.kind else { return "no message" }
                let json = try JSONValue.parse(Array(body.utf8))
                let parts = [json["event"], json["account"], json["channel"]].map { $0?.string ?? "?" }
                return (parts + ["\(json["reason"]?.integer ?? -1)", "\(json["uid"]?.integer == Int64(alice.uid))"])
                    .joined(separator: " ")
            }
            #expect(bodies == ["join alice room 0 true", "leave alice room 602 true"])
            #expect(gateway.heard(in: special).map(\.account.rawValue) == ["alice", "alice"])
        }
    }

    @Test func aSpecialChannelIsNotDeletedWhileItsEventsAreRead() async throws {
        try await ServicesStage.run { stage in
            let special = try stage.channel("_agora_channel_event")
            let (keys, functions) = (ChannelKeys(special), ChannelFunctions(redis: stage.connection))
            _ = try await stage.redis("HSET", keys.state, "seq", "1")
            #expect(try await functions.expiry(special) == .idle)
            _ = try await stage.redis("SET", keys.followed, "1")
            let followed = try await functions.expiry(special)
            if case .wait = followed {} else { Issue.record("\(followed)") }
            #expect(try await functions.delete(special, version: 0) == false)
            #expect(try await stage.redis("EXISTS", keys.state).int == 1)
            _ = try await stage.redis("DEL", keys.followed)
            #expect(try await functions.delete(special, version: 0))
            #expect(try await stage.redis("EXISTS", keys.state).int == 0)
        }
    }

    @Test func longListsComeInPagesNewestFirst() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let tag = KeySpace.tag(room)
            // Writes the members directly into Redis: 4,500 logins would take too long.
            var members = RedisCommand("ZADD", .string(tag + ":members"))
            var info = RedisCommand("HSET", .string(tag + ":info"))
            for number in 1...4500 {
                members.append(.int(number))
                members.append(.string("u\(number)"))
                info.append(.string("u\(number)"))
                info.append(.string("\(number) s\(number)"))
            }
            for command in [members, info] { _ = try await stage.connection.execute(command) }
            let all = try await gateway.send(ListMembers(channel: room, limit: 1_000_000))
            #expect(all.total == 4500 && all.members.count == 4500)
            #expect(all.members.map(\.uid) == (1...4500).reversed().map { UInt32($0) })
            let some = try await gateway.send(ListMembers(channel: room, limit: 3))
            #expect(some.total == 4500 && some.members.map(\.uid) == [4500, 4499, 4498])
            let none = try await gateway.send(ListMembers(channel: try stage.channel("none"), limit: 5))
            #expect(none == MemberList(total: 0, members: []))
        }
    }

    /// Compares the prepared text of the latest members with a list that is computed member by member.
    @Test func theListOfLatestMembersSurvivesAnyOrderOfActs() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let tag = KeySpace.tag(room)
            // The service has loaded its functions once it answers a command.
            _ = try await gateway.send(CountMembers(channel: room))
            func join(_ number: Int, session: String, checks: Bool = true) async throws {
                let answer = try await stage.connection.execute(
                    .function(
                        "channel_join", tag: tag, "", 0, .string("u\(number)"), .int(number), .string(session), 0))
                let text = try #require(answer.array?[6].bytes)
                guard checks else { return }
                let listed = try await gateway.send(ListMembers(channel: room, limit: Limits.userListLatest))
                #expect(LatestMembers(text: text).all == listed.members)
                #expect(text.count { $0 == UInt8(ascii: "\n") } <= Limits.userListLatest + 2 * 50)
            }
            func leave(_ number: Int, session: String) async throws {
                _ = try await stage.connection.execute(
                    .function("channel_leave", tag: tag, "", 0, .string("u\(number)"), .string(session), 0))
            }
            for number in 1...260 { try await join(number, session: "one", checks: number % 26 == 0) }
            // 260 is the latest member, 61 the oldest that is listed, and 1 is not listed.
            for number in [112, 260, 61, 1, 200, 199, 198] { try await leave(number, session: "one") }
            try await join(261, session: "one")
            // New sessions of a listed account and of one that is not listed, and a repeated join.
            for number in [150, 2, 261] { try await join(number, session: "two") }
            try await join(261, session: "two")
            for number in 100...259 { try await leave(number, session: number == 150 ? "two" : "one") }
            try await join(262, session: "one")
            // Below 200 members the text lists all of them.
            _ = try await stage.redis("DEL", tag + ":latest")
            for number in [3, 262, 270, 271] { try await join(number, session: "three") }
            for number in 1...271 {
                for session in ["one", "two", "three"] { try await leave(number, session: session) }
            }
            #expect(try await stage.redis("EXISTS", tag + ":latest").int == 0)
            try await join(1, session: "four")
        }
    }

    @Test func anEmptyChannelEndsWithItsAttributes() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
            for (name, value) in [("topic", "x"), ("_channel_ttl", "1")] {
                let attribute = Attribute(name: try AttributeName(name), value: value)
                _ = try await gateway.send(
                    ChangeChannelAttributes(actor: alice.actor, channel: room.name, change: .update(attribute)))
            }
            _ = try await gateway.send(LeaveChannel(actor: alice.actor, channel: room.name, reason: .leaveByUser))
            try await waitUntil("the channel's end") {
                try await stage.redis("EXISTS", KeySpace.tag(room) + ":state").int == 0 ? nil : "still there"
            }
            try await stage.expectRows("SELECT name AS line FROM channel_attributes", [])
            let joined = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
            #expect(joined.attributes.isEmpty)
        }
    }
}
