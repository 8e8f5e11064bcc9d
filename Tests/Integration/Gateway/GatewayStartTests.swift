import ClusterBus
import ClusterState
import GatewayServer
import Logging
import NIOCore
import NIOPosix
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

/// A gateway that starts while its lease cannot be taken.
@Suite struct GatewayStartTests {
    /// A client's handshake.
    static let upgrade = """
        GET / HTTP/1.1\r
        Host: x\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r

        """

    /// Presence does not notice the end of a gateway that never had a lease: it would keep the
    /// sessions of its clients online.
    @Test func clientsAreServedOnlyUnderALease() async throws {
        let redis = try await RedisServer(appendOnly: false)
        let operating = try Self.operatingClient(of: redis)
        try await waitUntil("the test's connection") { operating.isConnected ? nil : "none" }
        // Presence's timer for the lease fails, because this must be a sorted set; all else that a
        // gateway does at its start succeeds.
        let timers = RedisArgument.string(KeySpace.due(.presence))
        _ = try await operating.execute(RedisCommand("SET", timers, "in the way"))

        let port = try await Self.freePort()
        let (gateway, services) = try Self.gateway(port: port, redisURL: redis.url)
        async let running: Void = services.run()

        let client = try await Self.client(of: port)
        let answers = Recording<String>()
        try await client.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: Self.upgrade))
            async let reading: Void = {
                for try await bytes in inbound {
                    answers.add(String(buffer: bytes))
                    return
                }
            }()
            try await letPass(.milliseconds(500), "a client of a gateway without a lease is not answered")
            #expect(answers.all == [])
            for check in gateway.readiness where check.name == "listener" {
                #expect(await check.check() != nil)
            }

            _ = try await operating.execute(RedisCommand("DEL", timers))
            try await reading
            #expect(answers.all.first?.hasPrefix("HTTP/1.1 101") == true)
            try await Self.untilDiscoveryNamesIt(operating)
            #expect(try await operating.execute(RedisCommand("ZCARD", timers)).int == 1)
        }
        await services.triggerGracefulShutdown()
        try await running
        await operating.close()
        try await redis.remove()
    }

    private static func untilDiscoveryNamesIt(_ client: RedisClient) async throws {
        try await waitUntil("discovery names the gateway") {
            let named = try? await GatewayLeases(connection: client).sample().count
            return named == 1 ? nil : "\(named ?? 0) gateways are named"
        }
    }

    /// The test's own client, started, which looks at leases.
    static func operatingClient(of redis: RedisServer) throws -> RedisClient {
        let client = RedisClient(
            configuration: try redis.configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [.leases], logger: ServicesStage.silent)
        client.start()
        return client
    }

    /// A gateway that ends at once when it is to end, and the group that runs it.
    static func gateway(
        port: Int, redisURL: String, eventLoops: Int = 1
    ) throws -> (gateway: GatewayService, services: ServiceGroup) {
        var configuration = GatewayConfiguration()
        (configuration.port, configuration.eventLoops) = (port, eventLoops)
        (configuration.lingerTime, configuration.drainTime) = (.zero, .zero)
        let gateway = try GatewayService(
            configuration: configuration, redisURL: redisURL, instance: "test", logger: ServicesStage.silent)
        return (
            gateway,
            ServiceGroup(
                configuration: ServiceGroupConfiguration(services: [gateway], logger: ServicesStage.silent))
        )
    }

    /// Connects to the gateway once it listens.
    private static func client(of port: Int) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let connected = Recording<NIOAsyncChannel<ByteBuffer, ByteBuffer>>()
        try await waitUntil("the gateway listens") {
            do {
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                        }
                    }
                connected.add(channel)
                return nil
            } catch {
                return "\(error)"
            }
        }
        return try #require(connected.all.first)
    }

    static func freePort() async throws -> Int {
        let listening = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listening.localAddress?.port)
        try await listening.close()
        return port
    }
}
