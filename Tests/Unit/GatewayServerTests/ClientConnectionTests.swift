import Logging
import NIOCore
import NIOPosix
import RedisStore
import SignalingProtocol
import SignalingWire
import Synchronization
import Testing

@testable import GatewayServer

/// Connections to a gateway that has no Redis: what needs no session.
@Suite struct ClientConnectionTests {
    private static let upgrade = request(path: "/")

    private static func request(
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

    /// A client's frame, masked by zeros.
    private static func frame(_ first: UInt8, _ payload: String) -> [UInt8] {
        [first, 0x80 | UInt8(payload.utf8.count), 0, 0, 0, 0] + Array(payload.utf8)
    }

    /// A server's.
    private static func answer(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [first, UInt8(payload.count)] + payload
    }

    private static func close(_ code: WebSocketCloseCode) -> [UInt8] { answer(0x88, code.payload) }

    private static let pong = answer(0x81, Array(#"["pong",1]"#.utf8))

    @Test func theHandshake() async throws {
        let answer = try await Gateway().answers { client in
            client.send(Self.upgrade + Self.frame(0x88, ""))
            client.takeAll()
        }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(text.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(text.contains("\r\nUpgrade: websocket\r\n"))
        #expect(text.contains("\r\nConnection: upgrade\r\n"))
    }

    @Test(arguments: [
        (request(path: "/nothing"), "404"), (request(path: "/", version: "8"), "426"),
        (request(path: "/", version: "13, 8"), "426"), (request(path: "/", key: nil), "426"),
        (request(path: "/", key: "c2hvcnQ="), "426"), (request(method: "PUT", path: "/"), "426"),
    ])
    func whatIsNoHandshakeIsAnswered(request: [UInt8], status: String) async throws {
        let answer = try await Gateway().answers { client in
            client.send(request)
            client.takeAll()
        }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.contains("\r\nSec-WebSocket-Version: 13\r\n") == (status == "426"))
    }

    @Test(arguments: [0, 1, 8, 23])
    func framesMayComeWithTheHandshake(early: Int) async throws {
        let frames = Self.frame(0x81, #"["ping",1]"#) + Self.frame(0x89, "x")
        let answer = try await Gateway().answers { client in
            client.send(Self.upgrade + frames[..<early])
            client.takeHandshake()
            client.send(frames[early...] + Self.frame(0x88, ""))
            client.takeAll()
        }
        #expect(frames.count == 23)
        let expected = Self.pong + Self.answer(0x8A, Array("x".utf8)) + Self.close(.normalClosure)
        #expect(Array(answer.suffix(expected.count)) == expected)
    }

    @Test func fragmentsWithAPingBetween() async throws {
        let expected = Self.answer(0x8A, Array("x".utf8)) + Self.pong
        let answer = try await Gateway().answers { client in
            client.open(Self.upgrade)
            client.send(Self.frame(0x01, #"["ping""#) + Self.frame(0x89, "x") + Self.frame(0x80, ",1]"))
            client.take(expected.count)
        }
        #expect(answer == expected)
    }

    @Test(arguments: [
        (frame(0x82, "x"), WebSocketCloseCode.unacceptableData), (frame(0xC1, "x"), .protocolError),
        ([0x81, 1, 65], .protocolError), (frame(0x80, "x"), .protocolError), (frame(0x88, "x"), .protocolError),
        ([0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], .messageTooLarge),
        (frame(0x81, "no JSON"), .inconsistentData),
        (frame(0x81, #"["unknown",1]"#), .inconsistentData), (frame(0x88, ""), .normalClosure),
    ])
    func nothingIsReadAfterTheEnd(last: [UInt8], code: WebSocketCloseCode) async throws {
        let gateway = try Gateway()
        let answer = try await gateway.answers { client in
            client.open(Self.upgrade)
            client.send(Self.frame(0x81, #"["ping",1]"#) + last + Self.frame(0x81, "no JSON"))
            client.takeAll()
        }
        #expect(answer == Self.pong + Self.close(code))
        #expect(gateway.violations == (code == .normalClosure ? 0 : 1))
    }

    @Test func aClientThatDoesNotReadIsNotReadFrom() async throws {
        let gateway = try Gateway()
        let waiting = Mutex(0)
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            let ping = Self.frame(0x81, #"["ping","\#(String(repeating: "x", count: 100))"]"#)
            let pings = [UInt8](Array(repeating: ping, count: 500).joined())
            // Until the kernel holds all that it can, in both directions.
            client.sendUntilFull(pings)
            gateway.onLoop { shard in waiting.withLock { $0 = shard.output.waiting } }
        }
        #expect(waiting.withLock { $0 } <= 2 * 65_536)
    }

    @Test func aFrameBeforeTheLoginIsNoLargerThanALogin() async throws {
        let answer = try await Gateway().answers { client in
            client.open(Self.upgrade)
            client.send([0x81, 0xFE, 0x40, 0x01, 0, 0, 0, 0])
            client.takeAll()
        }
        #expect(answer == Self.close(.messageTooLarge))
    }

    @Test func tooManyConnectionsAreRefused() async throws {
        let answer = try await Gateway(connectionBound: 0).answers { client in
            client.send(Self.upgrade)
            client.takeAll()
        }
        #expect(Array(answer.suffix(4)) == Self.close(.goingAway))
    }

    @Test func theLaneOfAClosedConnectionIsGoneAtOnce() async throws {
        let gateway = try Gateway()
        let lanes = Mutex<[Bool]>([])
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                for connection in shard.connections.values {
                    lanes.withLock { $0.append(connection.outlet.lane != nil) }
                    connection.cutOff(.heldEvents)
                    // No tick in between, in which another connection could get the socket's number.
                    lanes.withLock { $0.append(connection.outlet.lane != nil) }
                }
            }
        }
        #expect(lanes.withLock { $0 } == [true, false])
    }
}

/// A gateway of one shard, without Redis, for one client.
private final class Gateway: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let shard: GatewayShard
    private let listener: PublicListener
    private let logged = Logged()

    init(connectionBound: Int = 10) throws {
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configuration.connectionBound = connectionBound
        let logger = Logger(label: "test") { [logged] _ in LogKeeper(logged: logged) }
        shard = GatewayShard(
            id: GatewayID("test"), eventLoop: group.next(), configuration: configuration,
            redis: try RedisConfiguration(url: "redis://127.0.0.1:1"),
            door: AddressDoor(configuration, logger: logger), logger: logger)
        listener = PublicListener(
            configuration: configuration, group: group, shards: [ObjectIdentifier(shard.eventLoop): shard],
            discovery: Discovery(own: configuration.publicAddress(listeningOn: 1), logger: logger) { [] },
            identity: nil, logger: logger)
    }

    /// How often a client broke the protocol.
    var violations: Int { logged.messages.withLock { $0.count { $0 == "protocol violation" } } }

    /// Does something on the shard's loop; not to be called from there.
    func onLoop(_ body: @escaping @Sendable (GatewayShard) -> Void) {
        try? shard.eventLoop.submit { [shard] in body(shard) }.wait()
    }

    /// - Returns: what the client has read last.
    func answers(_ talk: @escaping @Sendable (Peer) -> Void) async throws -> [UInt8] {
        let channels = try await listener.bind()
        let client = Peer(port: channels[0].localAddress?.port ?? 0)
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
