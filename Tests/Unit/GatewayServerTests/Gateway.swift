import BusProtocol
import Logging
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import Synchronization
import WebSocketWire

@testable import GatewayServer

/// A gateway with one shard and without Redis, for one client.
final class Gateway: Sendable {
    /// A handshake request, valid or not.
    static func request(
        method: String = "GET", path: String, version: String = "13", key: String? = "dGhlIHNhbXBsZSBub25jZQ=="
    ) -> [UInt8] {
        let key = key.map { "Sec-WebSocket-Key: \($0)\r\n" } ?? ""
        return Array(
            """
            \(method) \(path) HTTP/1.1\r
            Host: x\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: \(version)\r
            \(key)\r

            """.utf8)
    }

    /// A frame as a server sends it.
    static func answer(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [first, UInt8(payload.count)] + payload
    }

    /// The server's close frame with this code.
    static func close(_ code: WebSocketCloseCode) -> [UInt8] { answer(0x88, code.payload) }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let shard: GatewayShard
    private let listener: PublicListener
    private let logged = Logged()
    private let port = Mutex(0)

    /// - Parameter topics: the most channels that it may subscribe to.
    init(connectionBound: Int = 10, handshakeBound: Int = 10, topics: Int = 10) throws {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.connectionBound = connectionBound
        configuration.handshakeBound = handshakeBound
        var redis = try RedisConfiguration(url: "redis://127.0.0.1:1")
        redis.maxTopics = topics
        let logger = Logger(label: "test") { [logged] _ in LogKeeper(logged: logged) }
        shard = GatewayShard(
            id: GatewayID("test"), eventLoop: group.next(),
            process: GatewayProcess(
                configuration: configuration, redis: redis,
                addressLimiter: AddressLimiter(configuration, logger: logger),
                logger: logger))
        listener = PublicListener(
            configuration: configuration, group: group, shards: [ObjectIdentifier(shard.eventLoop): shard],
            discovery: Discovery(
                own: configuration.publicAddress(listeningOn: 1), logger: logger,
                directory: GatewayDirectory(sample: { [] })),
            identity: nil, logger: logger)
    }

    /// The number of logged protocol violations.
    var violations: Int { count(of: "protocol violation") }

    /// How often this message was logged.
    func count(of message: String) -> Int { logged.messages.withLock { $0.count { $0 == message } } }

    /// Connects a further client.
    func client() -> Peer { Peer(port: port.withLock { $0 }) }

    /// Runs a closure on the shard's event loop; must not be called from that loop.
    func onLoop(_ body: @escaping @Sendable (isolated GatewayShard) -> Void) {
        try? shard.eventLoop.submit { [shard] in shard.assumeIsolated(body) }.wait()
    }

    /// Runs a client's conversation.
    /// - Returns: the last bytes that the client read.
    func answers(_ talk: @escaping @Sendable (Peer) -> Void) async throws -> [UInt8] {
        let channels = try await listener.bind()
        shard.acceptsClients.store(true, ordering: .releasing)
        try await PublicListener.accept(on: channels)
        port.withLock { $0 = channels[0].localAddress?.port ?? 0 }
        let client = client()
        // The client's reads block their thread, so they run on NIO's thread pool; the
        // gateway needs the threads of tasks.
        try await NIOThreadPool.singleton.runIfActive { talk(client) }
        client.close()
        for channel in channels { try await channel.close().get() }
        try await group.shutdownGracefully()
        return client.text
    }
}

/// Records the logged messages.
private final class Logged: Sendable {
    let messages = Mutex<[String]>([])
}

private struct LogKeeper: LogHandler {
    let logged: Logged
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { logged.messages.withLock { $0.append("\(event.message)") } }
}
