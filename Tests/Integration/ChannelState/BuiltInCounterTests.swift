import BusProtocol
import ChannelStateServer
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The system's counters of a channel, and the attributes that turn their announcement on; over a real Redis and
/// PostgreSQL.
@Suite struct BuiltInCounterTests {
    @Test func _member_num() async throws {
        try await BuiltInAttributeScene.run { scene in
            // The counter is kept, but not announced until an attribute asks for it.
            let first = try await scene.stage.login("bob", on: scene.gateway)
            #expect(try await scene.join(first).attributes.isEmpty)
            try await scene.set("_auto_update_num", "1")
            let carol = try await scene.stage.login("carol", on: scene.gateway)
            let joined = try await scene.join(carol).attributes
            #expect(joined.map { "\($0.name)=\($0.value)" } == ["_auto_update_num=1", "_member_num=3"])
            try await scene.told("_member_num", ["carol _member_num=3"])
            try await scene.leave(first)
            try await scene.told("_member_num", ["carol _member_num=3", "bob _member_num=2"])
            for change in [
                scene.change(.delete(try AttributeName("_member_num"))), try scene.update("_member_num", "9"),
            ] {
                #expect(try await scene.gateway.refusal(change)?.code == .wrongParameter)
            }
        }
    }

    @Test func _auto_update_num() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_auto_update_num", "2")
            // Turning the announcement on does not itself announce the number.
            try await scene.quiet()
            let members = try await scene.enter("bob", "carol", "dave")
            try await waitUntil("all three") {
                scene.told("_member_num").last == "dave _member_num=4" ? nil : "\(scene.story)"
            }
            // The first change is announced at once, further ones after the interval.
            #expect(scene.told("_member_num").count <= 2)
            let times = scene.times("_member_num")
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 2000 })
            // A number that is the same again at the end of the interval is not announced.
            let before = scene.told("_member_num").count
            try await scene.leave(members[2])
            try await scene.join(members[2])
            try await scene.quiet()
            #expect(scene.told("_member_num").count == before)
            // Turned off: the counter continues, without announcements.
            try await scene.set("_auto_update_num", "0")
            try await scene.leave(members[0])
            try await scene.quiet()
            #expect(scene.told("_member_num").count == before)
            let erin = try await scene.stage.login("erin", on: scene.gateway)
            #expect(try await scene.join(erin).attributes.map(\.name.rawValue) == ["_auto_update_num"])
        }
    }

    @Test func _total_member_num() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_auto_update_num", "1")
            try await scene.set("_auto_update_total_num", "1")
            let bob = try await scene.enter("bob")[0]
            try await scene.told("_total_member_num", ["bob _total_member_num=2"])
            // Leaving does not decrease the total, and joining again increases it.
            try await scene.leave(bob)
            let joined = try await scene.join(bob).attributes
            #expect(
                joined.map { "\($0.name)=\($0.value)" } == [
                    "_auto_update_num=1", "_auto_update_total_num=1", "_member_num=2", "_total_member_num=3",
                ])
            try await scene.told("_total_member_num", ["bob _total_member_num=2", "bob _total_member_num=3"])
            let change = scene.change(.delete(try AttributeName("_total_member_num")))
            #expect(try await scene.gateway.refusal(change)?.code == .wrongParameter)
        }
    }

    @Test func _auto_update_total_num() async throws {
        try await BuiltInAttributeScene.run { scene in
            // On its own this attribute has no effect.
            try await scene.set("_auto_update_total_num", "1")
            let bob = try await scene.enter("bob")[0]
            try await scene.quiet()
            #expect(scene.told("_total_member_num").isEmpty)
            #expect(try await scene.join(bob).attributes.map(\.name.rawValue) == ["_auto_update_total_num"])
            try await scene.set("_auto_update_num", "86400")
            try await scene.enter("carol")
            try await scene.told("_total_member_num", ["carol _total_member_num=3"])
            try await scene.enter("dave")
            try await scene.told("_total_member_num", ["carol _total_member_num=3", "dave _total_member_num=4"])
            let times = scene.times("_total_member_num")
            #expect(times[1] - times[0] >= 1000)
            // Each counter has its own interval: here dave's join is announced only after a day.
            #expect(scene.told("_member_num") == ["carol _member_num=3"])
            // A shorter interval brings the timer forward.
            try await scene.set("_auto_update_num", "1")
            try await scene.told("_member_num", ["carol _member_num=3", "dave _member_num=4"])
        }
    }

    @Test func oneTimerPerChannelAndCounter() async throws {
        try await BuiltInAttributeScene.run { scene in
            func timers() async throws -> [String] {
                let members = try await scene.stage.redis("ZRANGE", KeySpace.due(.channelState), "0", "-1").array ?? []
                return members.compactMap(\.string).filter { $0.hasPrefix("num ") || $0.hasPrefix("total ") }.sorted()
            }
            try await scene.enter("bob")
            #expect(try await timers() == [])
            try await scene.set("_auto_update_num", "600")
            try await scene.set("_auto_update_total_num", "600")
            try await scene.enter("carol")
            try await scene.told("_total_member_num", ["carol _total_member_num=3"])
            try await scene.told("_member_num", ["carol _member_num=3"])
            try await scene.enter("dave", "erin", "frank")
            let channel = "app:{1} \(scene.room.name)"
            #expect(try await timers() == ["num \(channel)", "total \(channel)"])
        }
    }

    @Test func theNumberIsAnnouncedThoughTheJoiningInstanceDied() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_auto_update_num", "1")
            let bob = try await scene.stage.login("bob", on: scene.gateway)
            // The instance adds bob as a member and dies before it sets the timer.
            _ = try await scene.stage.connection.execute(
                .function(
                    "channel_join", tag: KeySpace.tag(scene.room), "j1", 0, "bob", .int(bob.uid),
                    .string(bob.line.session.rawValue), 0, 200))
            try await scene.quiet()
            #expect(scene.told("_member_num").isEmpty)
            // The command is delivered to another instance.
            let join = JoinChannel(actor: bob.actor, channel: scene.room.name)
            _ = try await scene.stage.connection.execute(
                PostedCommand.command(on: .single, for: join, id: CommandID("j1")))
            try await scene.told("_member_num", ["bob _member_num=2"])
        }
    }

    @Test func membersThatRedisLostAreCountedAgain() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_auto_update_num", "1")
            let bob = try await scene.enter("bob")[0]
            try await scene.told("_member_num", ["bob _member_num=2"])
            try await scene.quiet()
            let tag = KeySpace.tag(scene.room)
            _ = try await scene.stage.redis("DEL", tag + ":members", tag + ":info", tag + ":state", tag + ":attrver")
            let held = [scene.alice, bob].map {
                HeldMember(member: Member(account: $0.line.user.account, uid: $0.uid), session: $0.line.session)
            }
            _ = try await scene.gateway.send(ReassertMembers(channel: scene.room, members: held))
            try await scene.told("_member_num", ["bob _member_num=2", "bob _member_num=2"])
        }
    }
}
