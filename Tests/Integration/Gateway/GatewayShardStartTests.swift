import GatewayServer
import NIOCore
import NIOPosix
import RedisStore
import ServiceKit
import ServiceLifecycle
import TestKit
import Testing

/// A gateway with two shards, the second of which cannot take its lease for some time.
@Suite(.timeLimit(.minutes(2))) struct GatewayShardStartTests {
    /// The rights of a Redis user who may do everything, but not touch the second shard's own keys. Shards' ids are the process's
    /// id, which ends with hexadecimal digits, and their number.
    private static let withoutSecondShard = [
        "on", ">secret", "+@all", "&*", "~{control}*", "~due:*", "~*[0-9a-f]-0*",
    ]

    @Test func aShardServesClientsWhileTheOtherWaits() async throws {
        let redis = try await RedisServer(appendOnly: false)
        let operating = RedisConnection(
            configuration: try redis.configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: ServicesStage.silent)
        operating.start()
        try await Self.setUser(Self.withoutSecondShard, operating)

        let port = try await GatewayStartTests.freePort()
        var configuration = GatewayConfiguration()
        (configuration.port, configuration.eventLoops, configuration.drainTime) = (port, 2, .zero)
        let gateway = try GatewayService(
            configuration: configuration, redisURL: "redis://gateway:secret@127.0.0.1:\(redis.port)", instance: "test",
            logger: ServicesStage.silent)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [gateway], logger: ServicesStage.silent))
        async let running: Void = services.run()

        // Connections are assigned to the shards in turn.
        for _ in 0..<4 { #expect(try await Self.answer(of: port)?.hasPrefix("HTTP/1.1 101") == true) }
        #expect(try await Self.problem("redis", gateway) == nil)
        let problem = try #require(try await Self.problem("listener", gateway))
        #expect(problem.wholeMatch(of: /test-[0-9a-f]{8}-1 not accepting clients/) != nil, "\(problem)")

        try await Self.setUser(["allkeys"], operating)
        try await waitUntil("the second shard accepts clients") { try await Self.problem("listener", gateway) }
        for _ in 0..<2 { #expect(try await Self.answer(of: port)?.hasPrefix("HTTP/1.1 101") == true) }

        await services.triggerGracefulShutdown()
        try await running
        await operating.close()
        try await redis.remove()
    }

    private static func setUser(_ rights: [String], _ connection: RedisConnection) async throws {
        let words = ["SETUSER", "gateway"] + rights
        _ = try await connection.execute(RedisCommand("ACL", arguments: words.map { .string($0) }))
    }

    /// The first bytes of the answer to a handshake; nil when the connection is closed without.
    private static func answer(of port: Int) async throws -> String? {
        try await GatewayStartTests.client(of: port).executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: GatewayStartTests.upgrade))
            for try await bytes in inbound { return String(buffer: bytes) }
            return nil
        }
    }

    private static func problem(_ check: String, _ gateway: GatewayService) async throws -> String? {
        try await #require(gateway.readiness.first { $0.name == check }).check()
    }
}
