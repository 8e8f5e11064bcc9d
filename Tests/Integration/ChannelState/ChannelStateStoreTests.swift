import BusProtocol
import ClusterService
import ClusterState
import NIOCore
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer

/// Attributes while a gateway, PostgreSQL or Redis is down or hangs, or after one was restored to an older state.
@Suite struct ChannelStateStoreTests {
    private func update(_ name: String, _ value: String) throws -> AttributeChange {
        .update(Attribute(name: try AttributeName(name), value: value))
    }

    private func attribute(_ name: String, _ value: String) throws -> Attribute {
        Attribute(name: try AttributeName(name), value: value)
    }

    private func heard(_ gateway: StageGateway, _ channel: ChannelKey, _ summaries: [String]) async throws {
        try await waitUntil("\(summaries)", within: .seconds(30)) {
            let found = gateway.heard(in: channel).map(\.summary)
            return found == summaries ? nil : "\(found)"
        }
    }

    @Test func aGatewayWithoutTheSessionChangesNothing() async throws {
        try await ServicesStage.run { stage in
            let (old, new) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let room = try stage.channel("room")
            let alice = try await stage.login("alice", on: old)
            #expect(try await old.refusal(alice.change(try update("a", "1"), of: room)) == nil)
            #expect(try await old.refusal(alice.setting(try attribute("a", "1"))) == nil)
            _ = try await new.send(ResumeSession(gateway: new.id, line: alice.line))
            #expect(try await new.refusal(alice.change(try update("a", "2"), of: room)) == nil)
            #expect(try await new.refusal(alice.setting(try attribute("a", "2"))) == nil)
            // Changes that the older gateway sends only now, after the session has moved.
            #expect(try await old.refusal(alice.change(try update("a", "3"), of: room))?.reason == .sessionOver)
            #expect(try await old.refusal(alice.setting(try attribute("a", "3")))?.reason == .sessionOver)
            // A session that is over cannot change anything, through any gateway.
            _ = try await stage.login("alice", on: old)
            #expect(try await new.refusal(alice.change(try update("a", "4"), of: room))?.code == .notLoggedIn)
            #expect(try await new.refusal(alice.setting(try attribute("a", "4")))?.code == .notLoggedIn)
            let store = AttributeStore(pool: stage.pool)
            #expect(try await store.channelAttributes(room).attributes == [try attribute("a", "2")])
            #expect(try await store.userAttributes(alice.line.user).attributes == [try attribute("a", "2")])
        }
    }

    @Test func postgresMayBeOlderThanTheCache() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            for number in 1...8 { _ = try await gateway.send(alice.change(try update("n", "\(number)"), of: room)) }
            for number in 1...8 { _ = try await gateway.send(alice.setting(try attribute("n", "\(number)"))) }
            _ = try await gateway.send(ListUserAttributes(user: alice.line.user))
            // As after a failover of PostgreSQL that lost five commits.
            try await stage.pool.query("UPDATE channel_attribute_versions SET version = version - 5")
            try await stage.pool.query("UPDATE user_attribute_versions SET version = version - 5")
            for number in 9...11 { _ = try await gateway.send(alice.change(try update("n", "\(number)"), of: room)) }
            let all = (1...11).map { "alice n=\($0)" }
            try await heard(gateway, room, ["alice joined"] + all)
            let bob = try await stage.login("bob", on: gateway)
            let joined = try await gateway.send(JoinChannel(actor: bob.actor, channel: room.name))
            #expect(joined.attributes == [try attribute("n", "11")])
            for number in 9...11 {
                _ = try await gateway.send(alice.setting(try attribute("n", "\(number)")))
                #expect(
                    try await gateway.send(ListUserAttributes(user: alice.line.user)).attributes
                        == [try attribute("n", "\(number)")])
            }
        }
    }

    @Test func postgresMayHaveLostAttributes() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            for name in ["a", "b", "c"] { _ = try await gateway.send(alice.change(try update(name, "1"), of: room)) }
            try await stage.pool.query("DELETE FROM channel_attributes WHERE name = 'b'")
            try await stage.pool.query("UPDATE channel_attributes SET value = '0' WHERE name = 'c'")
            try await stage.pool.query("UPDATE channel_attribute_versions SET version = version - 3")
            _ = try await gateway.send(alice.change(try update("d", "1"), of: room))
            // The members are sent the differences.
            try await heard(
                gateway, room,
                ["alice joined", "alice a=1", "alice b=1", "alice c=1", "alice c=0", "alice d=1", "alice del b"])
        }
    }

    @Test func aChannelWithoutAttributesLeavesNothingInPostgres() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            for number in 0..<20 {
                let room = try stage.channel("room\(number)")
                _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
                _ = try await stage.redis("HSET", KeySpace.tag(room) + ":state", "_channel_ttl", "0")
            }
            let last = try ChannelName("room19")
            _ = try await gateway.send(LeaveChannel(actor: alice.actor, channel: last, reason: .leaveByUser))
            for number in 0..<20 {
                let tag = KeySpace.tag(try stage.channel("room\(number)"))
                try await waitUntil("the end of the channel") {
                    try await stage.redis("EXISTS", tag + ":state").int == 0 ? nil : "still there"
                }
            }
            try await stage.expectRows("SELECT channel AS line FROM channel_attribute_versions", [])
        }
    }

    @Test func aHungPostgresDelaysNobodyWhoDoesNotNeedIt() async throws {
        try await ServicesStage.run(instances: 1, ownPostgres: true) { stage in
            let gateway = try await stage.gateway("g1")
            let (known, fresh) = (try stage.channel("known"), try stage.channel("fresh"))
            try await gateway.listen(to: fresh)
            let alice = try await stage.login("alice", on: gateway)
            let bob = try await stage.login("bob", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: known.name))
            _ = try await gateway.send(alice.change(try update("a", "1"), of: known))
            // Attributes of a channel that nobody has joined yet.
            let others = [("x", "1"), ("y", "2")]
            _ = try await AttributeStore(pool: stage.pool).changeChannelAttributes(
                try others.map { name, value in
                    ChannelAttributeChange(
                        command: CommandID("before-\(name)"), channel: fresh, account: alice.line.user.account,
                        change: try update(name, value))
                })
            try stage.postgres.freeze()
            let started = ContinuousClock.now
            async let joined = gateway.send(JoinChannel(actor: bob.actor, channel: fresh.name))
            async let refused = gateway.refusal(alice.change(try update("a", "2"), of: known))
            #expect(try await joined.attributes.isEmpty)
            #expect(try await refused?.reason == .unavailable)
            #expect(ContinuousClock.now - started < .seconds(4))
            // From then on joins are answered at once.
            let later = ContinuousClock.now
            #expect(try await gateway.refusal(alice.change(try update("a", "3"), of: known))?.reason == .unavailable)
            #expect(try await gateway.refusal(alice.setting(try attribute("a", "1")))?.reason == .unavailable)
            #expect(try await stage.login("alice", on: gateway).uid == alice.uid)
            #expect(ContinuousClock.now - later < .seconds(4))
            try stage.postgres.thaw()
            // Members that joined without the attributes are sent them.
            try await heard(gateway, fresh, ["bob joined", "system x=1", "system y=2"])
        }
    }

    @Test func aJoinThatComesTooLateIsUndone() async throws {
        try await ServicesStage.run(instances: 1, ownPostgres: true) { stage in
            let gateway = try await stage.gateway("g1")
            let (one, two) = (try stage.channel("one"), try stage.channel("two"))
            try await gateway.listen(to: two)
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: one.name))
            // Loading the other channel's attributes takes longer than the join may wait.
            try stage.postgres.freeze()
            let join = JoinChannel(actor: alice.actor, channel: two.name)
            let refused = try await gateway.refusal(join, within: .milliseconds(400))
            #expect(refused?.reason == .timeout)
            try await waitUntil("the end of the join") {
                try await stage.sessionField("alice", "channel").map { "in \($0)" }
            }
            try stage.postgres.thaw()
            #expect(try await gateway.send(CountMembers(channel: two)).count == 0)
            #expect(gateway.heard(in: two).isEmpty)
            // A repeated join of the session's own channel, after the timeout, changes nothing.
            _ = try await gateway.send(join)
            _ = try? await gateway.send(join, within: .milliseconds(1))
            #expect(try await gateway.send(CountMembers(channel: two)).count == 1)
        }
    }

    @Test func aChannelThatRedisForgotIsEndedByTheSurvey() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            let (room, never) = (try stage.channel("room"), try stage.channel("never joined"))
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
            _ = try await gateway.send(alice.change(try update("a", "1"), of: room))
            _ = try await gateway.send(alice.change(try update("_channel_ttl", "0"), of: room))
            _ = try await gateway.send(alice.change(try update("a", "1"), of: never))
            let store = AttributeStore(pool: stage.pool)
            // The survey runs once a minute; here it runs at once.
            func survey() async throws {
                _ = try await stage.redis("DEL", "survey:channel-state")
                let functions = ChannelFunctions(redis: stage.connection)
                try await ChannelSurvey(
                    functions: functions, store: store,
                    cache: ChannelAttributeCache(functions: functions, store: store),
                    timers: ServiceTimers(
                        service: .channelState, connection: stage.connection, logger: ServicesStage.silent),
                    logger: ServicesStage.silent
                ).run()
            }
            try await survey()
            let noted = try await store.attributedChannels(after: nil, limit: 10)
            #expect(noted.map { "\($0.channel.name) \($0.wasJoined)" } == ["never joined false", "room true"])
            // Redis is restored without the channels and without their members.
            for channel in [room, never] {
                for key in ["state", "members", "info", "attrs", "attrver", "log", "latest"] {
                    _ = try await stage.redis("DEL", KeySpace.tag(channel) + ":" + key)
                }
            }
            try await survey()
            try await stage.expectRows("SELECT channel AS line FROM channel_attributes", ["never joined"])
        }
    }
}
