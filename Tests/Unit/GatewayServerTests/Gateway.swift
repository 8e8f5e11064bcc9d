import Logging
import NIOCore
import NIOPosix
import RedisStore
import SignalingProtocol
import SignalingWire
import Synchronization
import WebSocketWire

@testable import GatewayServer

/// A gateway of one shard, without Redis, for one client.
final class Gateway: Sendable {
    /// A handshake, or what looks like one.
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

    /// A frame of a server.
    static func answer(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [first, UInt8(payload.count)] + payload
    }

    /// The frame that closes a connection.
    static func close(_ code: WebSocketCloseCode) -> [UInt8] { answer(0x88, code.payload) }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let shard: GatewayShard
    private let listener: PublicListener
    private let logged = Logged()
    private let port = Mutex(0)

    /// - Parameter topics: how many channels it may listen to.
    init(connectionBound: Int = 10, handshakeBound: Int = 10, topics: Int = 10) throws {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.connectionBound = connectionBound
        configuration.handshakeBound = handshakeBound
        var redis = try RedisConfiguration(url: "redis://127.0.0.1:1")
        redis.maxTopics = topics
        let logger = Logger(label: "test") { [logged] _ in LogKeeper(logged: logged) }
        shard = GatewayShard(
            id: GatewayID("test"), eventLoop: group.next(), configuration: configuration,
            redis: redis, door: AddressDoor(configuration, logger: logger), logger: logger)
        listener = PublicListener(
            configuration: configuration, group: group, shards: [ObjectIdentifier(shard.eventLoop): shard],
            discovery: Discovery(own: configuration.publicAddress(listeningOn: 1), logger: logger) { [] },
            identity: nil, logger: logger)
    }

    /// How often a client broke the protocol.
    var violations: Int { count(of: "protocol violation") }

    /// How often this was logged.
    func count(of message: String) -> Int { logged.messages.withLock { $0.count { $0 == message } } }

    /// Another client, while one talks.
    func client() -> Peer { Peer(port: port.withLock { $0 }) }

    /// Does something on the shard's loop; not to be called from there.
    func onLoop(_ body: @escaping @Sendable (isolated GatewayShard) -> Void) {
        try? shard.eventLoop.submit { [shard] in shard.assumeIsolated(body) }.wait()
    }

    /// - Returns: what the client has read last.
    func answers(_ talk: @escaping @Sendable (Peer) -> Void) async throws -> [UInt8] {
        let channels = try await listener.bind()
        port.withLock { $0 = channels[0].localAddress?.port ?? 0 }
        let client = client()
        // The client's reads block their thread, and the gateway's answers need those of tasks.
        try await NIOThreadPool.singleton.runIfActive { talk(client) }
        client.close()
        for channel in channels { try await channel.close().get() }
        try await group.shutdownGracefully()
        return client.text
    }
}

/// What was logged.
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
