import ClusterBus
import ClusterState
import GatewayServer
import NIOPosix
import RedisClient
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

/// A gateway on a Redis Cluster while one master is away.
@Suite(.serialized, .timeLimit(.minutes(3))) struct GatewayAwayMasterTests {
    private static func master(_ subject: Subject) -> Int { Int(KeySpace.slot(of: subject)) * 3 / 16_384 }

    /// The buckets of the master that is away come first when a shard compares its sessions
    /// with those that Redis records.
    @Test func sessionsAtOtherMastersAreCompared() async throws {
        try await RedisClusterScene.run { scene in
            let redis = try RedisClient(
                url: scene.servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [.leases],
                logger: ServicesStage.silent)
            redis.start()
            let (_, services) = try GatewayStartTests.gateway(
                port: try await GatewayStartTests.freePort(), redisURL: scene.servers.url)
            async let running: Void = services.run()
            let leases = GatewayLeases(connection: redis)
            try await waitUntil("the gateway") {
                let count = try await leases.list().count
                return count == 1 ? nil : "\(count)"
            }
            let shard = try #require(try await leases.list().first)

            try await scene.servers.servers[0].kill()
            try await waitUntil("the outage") { await redis.checkReadiness() == .ready ? "ready" : nil }
            var user = UserKey(app: try AppID("app"), account: try Account("user"))
            while Self.master(.user(user)) != 2 {
                user = UserKey(app: user.app, account: try Account(user.account.rawValue + "-"))
            }
            let ghost = SessionRoute(user: user, session: SessionID("ghost"))
            let routes = KeySpace.routes(shard, bucket: Buckets.bucket(of: KeySpace.name(user)))
            _ = try await redis.execute(RedisCommand("SADD", key: routes, .string(ghost.text)))
            // The next heartbeat finds that too few leases were held, and then everything is compared.
            for place in leases.places(of: shard) where Int(place.slot) * 3 / 16_384 != 0 {
                _ = try await redis.execute(RedisCommand("DEL", key: place.key))
            }
            let commands = KeySpace.commands(.presence, in: redis.bus.partition(of: .user(user)))
            try await waitUntil("a report to presence") {
                try await redis.execute(RedisCommand("XLEN", key: commands)).int == 0 ? "none" : nil
            }
            await services.triggerGracefulShutdown()
            try await running
            await redis.close()
        }
    }
}
