import ClusterBus
import ClusterState
import GatewayServer
import NIOCore
import NIOPosix
import RedisClient
import ServiceKit
import ServiceLifecycle
import TestKit
import Testing

/// A gateway with two shards, the second of which cannot take its lease for some time.
@Suite(.timeLimit(.minutes(2))) struct GatewayShardStartTests {
    /// The rights of a Redis user who may do everything, but not touch the second shard's own keys. Shards' ids are the
    /// process's id, which ends with hexadecimal digits, and their number.
    private static let withoutSecondShard = [
        "on", ">secret", "+@all", "&*", "~{control}*", "~due:*", "~*[0-9a-f]-0*",
    ]

    @Test func aShardServesClientsWhileTheOtherWaits() async throws {
        let redis = try await RedisServer(appendOnly: false)
        let operating = try GatewayStartTests.operatingClient(of: redis)
        try await Self.setUser(Self.withoutSecondShard, operating)

        let port = try await GatewayStartTests.freePort()
        let (gateway, services) = try GatewayStartTests.gateway(
            port: port, redisURL: "redis://gateway:secret@127.0.0.1:\(redis.port)", eventLoops: 2)
        async let running: Void = services.run()

        // Connections are assigned to the shards in turn; the first shard gets them all, and tells so by its lease.
        var clients: [any Channel] = []
        for _ in 0..<4 { clients.append(try await Self.client(of: port)) }
        try await waitUntil("all clients at the first shard") {
            let leases = try await GatewayLeases(connection: operating).sample()
            return leases.map(\.lease.connections) == [4] ? nil : "\(leases)"
        }
        #expect(try await Self.problem("redis", gateway) == nil)
        let problem = try #require(try await Self.problem("listener", gateway))
        #expect(problem.wholeMatch(of: /test-[0-9a-f]{8}-1 not accepting clients/) != nil, "\(problem)")

        try await Self.setUser(["allkeys"], operating)
        try await waitUntil("the second shard accepts clients") { try await Self.problem("listener", gateway) }
        for _ in 0..<2 { clients.append(try await Self.client(of: port)) }
        try await waitUntil("both shards have clients") {
            let leases = try await GatewayLeases(connection: operating).sample()
            return leases.map(\.lease.connections).sorted() == [1, 5] ? nil : "\(leases)"
        }

        for client in clients { try await client.close() }
        await services.triggerGracefulShutdown()
        try await running
        await operating.close()
        try await redis.remove()
    }

    private static func setUser(_ rights: [String], _ connection: RedisClient) async throws {
        let words = ["SETUSER", "gateway"] + rights
        _ = try await connection.execute(RedisCommand("ACL", arguments: words.map { .string($0) }))
    }

    /// Connects a client, whose handshake the gateway must answer.
    private static func client(of port: Int) async throws -> any Channel {
        let answers = Recording<String>()
        let channel = try await connected(to: port, answers)
        try await channel.writeAndFlush(ByteBuffer(string: GatewayStartTests.upgrade))
        try await answers.wait(for: 1, "answers")
        #expect(answers.all[0].hasPrefix("HTTP/1.1 101"))
        return channel
    }

    /// Connects once the gateway listens.
    private static func connected(to port: Int, _ answers: Recording<String>) async throws -> any Channel {
        let connected = Recording<any Channel>()
        try await waitUntil("the gateway listens") {
            do {
                let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(Reader(answers))
                        }
                    }
                connected.add(try await bootstrap.connect(host: "127.0.0.1", port: port).get())
                return nil
            } catch {
                return "\(error)"
            }
        }
        return try #require(connected.all.first)
    }

    /// Records what a client reads.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let answers: Recording<String>

        init(_ answers: Recording<String>) { self.answers = answers }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            answers.add(String(buffer: unwrapInboundIn(data)))
        }
    }

    private static func problem(_ check: String, _ gateway: GatewayService) async throws -> String? {
        try await #require(gateway.readiness.first { $0.name == check }).check()
    }
}
