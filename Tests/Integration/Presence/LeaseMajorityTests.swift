import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import NIOPosix
import PostgresStore
import PresenceLogic
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

@testable import PresenceServer

/// A gateway on a Redis Cluster is lost when more than half of its leases have ended.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LeaseMajorityTests {
    /// Presence on a cluster of three masters.
    private struct Stage {
        let scene: RedisClusterScene
        let redis: RedisClient
        let leases: GatewayLeases
        private let sessions: SessionHandler

        init(_ scene: RedisClusterScene) async throws {
            self.scene = scene
            redis = try await AwayMasterTests.client(of: scene)
            leases = GatewayLeases(connection: redis)
            sessions = AwayMasterTests.sessions(redis)
        }

        /// A gateway whose first lease is at a master, with all its leases, and a session of a user of the last master.
        func gateway(_ name: String, atMaster master: Int) async throws -> (id: GatewayID, user: UserKey) {
            let id = try AwayMasterTests.first(
                atMaster: master, { GatewayID("\(name)\($0)") }, slot: { KeySpace.slot(of: .gateway($0)) })
            _ = try await leases.heartbeat(id, .ofTest)
            let app = try AppID("app")
            let user = try AwayMasterTests.first(
                atMaster: 2, { UserKey(app: app, account: try Account("\(name)-user\($0)")) },
                slot: { KeySpace.slot(of: .user($0)) })
            let line = Line(user: user, session: SessionID(name), secret: TestLine.secret)
            _ = try await sessions.open(
                OpenSession(gateway: id, line: line, device: "test", push: false),
                CommandContext(id: CommandID("login \(name)")))
            return (id, user)
        }

        func state(of user: UserKey) async throws -> String? {
            try await redis.execute(RedisCommand("HGET", key: UserKeys(user).session, "state")).string
        }

        /// Lets one of a gateway's timers fire now.
        func fire(_ gateway: GatewayID, _ number: Int) async throws {
            let due = KeySpace.due(.presence, in: leases.places(of: gateway)[number].partition)
            _ = try await redis.execute(
                RedisCommand("ZADD", key: due, 0, .string(PresenceTimer.gateway(gateway).member)))
        }

        func renew(_ gateway: GatewayID, _ numbers: [Int]) async throws {
            for place in leases.places(of: gateway) where numbers.contains(place.number) {
                _ = try await leases.renew(gateway, .ofTest, at: place)
            }
        }

        func expectDetached(_ user: UserKey) async throws {
            try await waitUntil("the detachment of \(user.account)", within: .seconds(30)) {
                let state = try await self.state(of: user)
                return state == "detached" ? nil : "\(state ?? "none")"
            }
        }
    }

    private static func run(_ test: (Stage) async throws -> Void) async throws {
        try await RedisClusterScene.run { scene in
            let stage = try await Stage(scene)
            let pool = try AwayMasterTests.noPostgres()
            let presence = try await ServiceRuntime.assemble(
                PresenceService(), instance: "presence", redis: try RedisConfiguration(url: scene.servers.url),
                pool: pool, logger: ServicesStage.silent)
            let group = ServiceGroup(services: presence.services, logger: ServicesStage.silent)
            async let running: Void = group.run()
            try await waitUntil("presence") {
                try await stage.redis.execute(RedisCommand("ZCARD", key: KeySpace.instances)).int == 1
                    ? nil : "not running"
            }
            try await test(stage)
            await group.triggerGracefulShutdown()
            try await running
            await stage.redis.close()
        }
    }

    @Test func oneLeaseOfThreeMayEndAndTwoMayNot() async throws {
        try await Self.run { stage in
            let lost = try await stage.gateway("lost", atMaster: 0)
            let kept = try await stage.gateway("kept", atMaster: 0)
            // Of an earlier release: it renews only its first lease, and does not say how many it has.
            let older = try await stage.gateway("older", atMaster: 1)
            let earlier = stage.leases.places(of: older.id)
            for place in earlier.dropFirst() {
                _ = try await stage.redis.execute(RedisCommand("DEL", key: place.key))
            }
            func renewOlder() async throws {
                _ = try await stage.redis.execute(
                    .function(
                        "lease_renew", tag: earlier[0].key,
                        arguments: ["8:draining1:0", .milliseconds(.seconds(10)), .milliseconds(.seconds(43_200))]))
            }
            // The lost gateway's timers fire when presence may judge it.
            try await waitUntil("the loss of the one whose two leases have ended", within: .seconds(30)) {
                try await stage.renew(lost.id, [1])
                try await stage.renew(kept.id, [1, 2])
                try await renewOlder()
                try await lost.id.expire([0, 2], on: stage.redis)
                try await kept.id.expire([0], on: stage.redis)
                for (gateway, number) in [(lost, 0), (kept, 0), (kept, 1), (older, 0)] {
                    try await stage.fire(gateway.id, number)
                }
                return try await stage.state(of: lost.user) == "detached" ? nil : "online"
            }
            #expect(try await stage.state(of: kept.user) == "online")
            #expect(try await stage.state(of: older.user) == "online")
            try await older.id.expire([0], on: stage.redis)
            try await kept.id.expire([1], on: stage.redis)
            try await stage.fire(older.id, 0)
            try await stage.fire(kept.id, 2)
            try await stage.expectDetached(older.user)
            try await stage.expectDetached(kept.user)
        }
    }

    @Test func aLeaseThatCannotBeReadIsNotCounted() async throws {
        try await Self.run { stage in
            let gateway = try await stage.gateway("gateway", atMaster: 0)
            let other = try await stage.gateway("other", atMaster: 1)
            let end = ContinuousClock.now + GatewayID.fleet.watchDelay + .seconds(3)
            try await stage.scene.servers.servers[0].kill()
            try await waitUntil("the outage") { await stage.redis.checkReadiness() == .ready ? "ready" : nil }
            // Presence has heard the other masters long enough by the end, and looks every second.
            while ContinuousClock.now < end {
                try await stage.renew(gateway.id, [2])
                try await gateway.id.expire([1], on: stage.redis)
                try await stage.fire(gateway.id, 1)
                #expect(try await stage.state(of: gateway.user) == "online")
                try await letPass(.milliseconds(500), "presence looks at the leases")
            }
            try await gateway.id.expire([2], on: stage.redis)
            try await stage.expectDetached(gateway.user)
            // No heartbeat came from the other; its remaining timers suffice.
            try await stage.expectDetached(other.user)
        }
    }
}
