import BusProtocol
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The built-in attributes of a channel, over a real Redis and PostgreSQL; each test is named after its attribute.
@Suite struct BuiltInAttributeTests {
    @Test func _userNotification() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_userNotification", "0")
            let bob = try await scene.enter("bob")[0]
            try await scene.leave(bob)
            try await scene.set("_userNotification", "1")
            try await scene.join(bob)
            try await scene.heard([
                "alice joined", "alice _userNotification=0", "alice _userNotification=1", "bob joined",
            ])
            let sequences = scene.gateway.heard(in: scene.room).map(\.sequence)
            #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 + 1 == $1 })
        }
    }

    @Test(arguments: ["0", "1"])
    func _channel_ttl(_ seconds: String) async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("topic", "x")
            try await scene.set("_channel_ttl", seconds)
            try await scene.leave(scene.alice)
            try await waitUntil("the channel's end") {
                try await scene.stage.redis("EXISTS", KeySpace.tag(scene.room) + ":state").int == 0 ? nil : "there"
            }
            try await scene.stage.expectRows("SELECT name AS line FROM channel_attributes", [])
            #expect(try await scene.join(scene.alice).attributes.isEmpty)
        }
    }

    @Test func _channel_ttlOfAnEmptyChannelCountsFromTheLastLeave() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.leave(scene.alice)
            // A change in the name of a user that is not a member.
            try await scene.set("_channel_ttl", "3600")
            let member = "expiry app:{1} room"
            func due() async throws -> Double {
                let score = try await scene.stage.redis("ZSCORE", KeySpace.due(.channelState), member).string
                return Double(score ?? "") ?? 0
            }
            let emptied = try await scene.stage.redis("HGET", KeySpace.tag(scene.room) + ":state", "emptied").string
            let left = try #require(Double(emptied ?? ""))
            #expect(try await due() == left + 3_600_000)
            try await scene.delete("_channel_ttl")
            #expect(try await due() == left + 7_200_000)
            try await scene.set("_channel_ttl", "0")
            try await waitUntil("the channel's end") {
                try await scene.stage.redis("EXISTS", KeySpace.tag(scene.room) + ":state").int == 0 ? nil : "there"
            }
        }
    }

    @Test func _sendmsg_limit() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_sendmsg_limit", "3")
            let other = try await scene.stage.gateway("g2")
            /// The number of refused messages among twelve, sent through two gateways.
            func refused() async throws -> Int {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            let message = ChannelMessage(
                                channel: scene.room, account: scene.alice.line.user.account, uid: scene.alice.uid,
                                body: "\(number)")
                            do throws(SignalingError) {
                                _ = try await (number % 2 == 0 ? scene.gateway : other).messages.sendToChannel(message)
                                return false
                            } catch {
                                guard error.reason == .rateLimited else { throw error }
                                return true
                            }
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            // A second may end during the test, so that up to two windows count.
            #expect((6...9).contains(try await refused()))
            try await scene.delete("_sendmsg_limit")
            #expect(try await refused() == 0)
        }
    }

    @Test func _setattr_limit() async throws {
        try await BuiltInAttributeScene.run { scene in
            try await scene.set("_setattr_limit", "5")
            func refused() async throws -> Int {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try await scene.gateway.refusal(scene.update("a", "\(number)"))?.reason == .rateLimited
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            // A second may end during the test, so that up to two windows count.
            #expect((10...15).contains(try await refused()))
            // Each attribute has a counter of its own.
            #expect(try await scene.gateway.refusal(scene.update("b", "1")) == nil)
            try await scene.delete("_setattr_limit")
            #expect(try await refused() == 0)
        }
    }

    @Test func badValuesAreRefused() async throws {
        try await BuiltInAttributeScene.run { scene in
            for (name, value) in [
                ("_userNotification", "2"), ("_channel_ttl", "31536001"), ("_auto_update_num", "86401"),
                ("_auto_update_total_num", "-1"), ("_sendmsg_limit", "0"), ("_setattr_limit", "0"),
            ] {
                #expect(try await scene.gateway.refusal(scene.update(name, value))?.code == .wrongParameter)
            }
            try await scene.heard(["alice joined"])
        }
    }

    @Test func clearResetsThemToTheirDefaults() async throws {
        try await BuiltInAttributeScene.run { scene in
            for (name, value) in [
                ("_userNotification", "0"), ("_channel_ttl", "5"), ("_auto_update_num", "1"),
                ("_auto_update_total_num", "1"), ("_sendmsg_limit", "1"), ("_setattr_limit", "1"), ("topic", "x"),
            ] { try await scene.set(name, value) }
            _ = try await scene.gateway.send(scene.change(.clear))
            let fields = try await scene.stage.redis("HKEYS", KeySpace.tag(scene.room) + ":state").array ?? []
            #expect(fields.compactMap(\.string).sorted() == ["id", "joins", "listed", "seq"])
            let bob = try await scene.stage.login("bob", on: scene.gateway)
            #expect(try await scene.join(bob).attributes.isEmpty)
            try await waitUntil("bob") { scene.story.last == "bob joined" ? nil : "\(scene.story)" }
        }
    }

    @Test(arguments: ["_agora_user_online", "__agora_channel_event"])
    func specialChannelsHaveNone(_ name: String) async throws {
        try await BuiltInAttributeScene.run { scene in
            let special = try scene.stage.channel(name)
            func change(_ name: String, _ value: String) throws -> ChangeChannelAttributes {
                ChangeChannelAttributes(
                    actor: scene.alice.actor, channel: special.name,
                    change: .update(Attribute(name: try AttributeName(name), value: value)))
            }
            #expect(try await scene.gateway.refusal(change("_channel_ttl", "0"))?.reason == .specialChannel)
            _ = try await scene.gateway.send(change("purpose", "watching"))
            _ = try await scene.gateway.send(JoinChannel(actor: scene.alice.actor, channel: special.name))
            _ = try await scene.gateway.send(
                LeaveChannel(actor: scene.alice.actor, channel: special.name, reason: .leaveByUser))
            // The channel is empty, and no timer is left that would remove it.
            let timer = "expiry app:{1} \(special.name)"
            #expect(try await scene.stage.redis("ZSCORE", KeySpace.due(.channelState), timer).isNull)
            let again = try await scene.gateway.send(JoinChannel(actor: scene.alice.actor, channel: special.name))
            #expect(again.attributes.map(\.value) == ["watching"])
        }
    }
}
