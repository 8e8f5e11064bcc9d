import BusProtocol
import ClusterBus
import Dispatch
import GatewayLogic
import Logging
import NIOCore
import NIOEmbedded
import RedisClient
import SignalingProtocol
import WebSocketWire

@testable import GatewayServer

/// A client's connection over NIO's testing channel, at a shard without Redis; the test supplies the services' answers.
final class EmbeddedClient: Sendable {
    static let session = SessionID("s-1")
    static let line = "s-1.0123456789abcdef0123456789abcdef.app.alice"
    static let login = #"["login",{"vid":"app","account":"alice","token":"_no_need_token","device":"d"}]"#
    static let lineLogin = #"["line_login",{"line":"\#(line)"}]"#

    let shard: GatewayShard
    private let channel: NIOAsyncTestingChannel

    /// - Parameters:
    ///   - bound: the most bytes that may wait for the client once it is logged in.
    ///   - handler: a handler to add between the connection and the socket.
    init(bound: Int = 1 << 20, handler: (any ChannelHandler & Sendable)? = nil) async throws {
        var configuration = GatewayConfiguration()
        configuration.sendBufferBound = bound
        configuration.freshOutputBound = bound
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let channel = NIOAsyncTestingChannel()
        self.channel = channel
        shard = GatewayShard(
            id: GatewayID("test"), eventLoop: channel.eventLoop,
            process: GatewayProcess(
                configuration: configuration, redis: try RedisConfiguration(url: "redis://127.0.0.1:1"),
                addressLimiter: AddressLimiter(configuration, logger: logger), logger: logger))
        if let handler { try await channel.pipeline.addHandler(handler) }
        try await onLoop { shard in
            // With `isPlain: false`, all writes go through NIO's channel.
            let connection = ClientConnection(shard: shard, isPlain: false, remote: nil)
            try channel.pipeline.syncOperations.addHandler(connection)
        }
        _ = try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    // An open channel, its handlers and what the shard has scheduled keep each other.
    deinit {
        channel.close(promise: nil)
        channel.testingEventLoop.shutdownGracefully(queue: .global()) { _ in }
    }

    /// Runs a closure on the shard.
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (isolated GatewayShard) throws -> Value
    ) async throws -> Value {
        try await channel.eventLoop.submit { [shard] in try shard.assumeIsolated(body) }.get()
    }

    /// Runs a closure on the connection, if it still exists.
    func onConnection(_ body: @escaping @Sendable (ClientConnection, isolated GatewayShard) -> Void) async throws {
        try await onLoop { shard in
            for connection in shard.connections.values { body(connection, shard) }
        }
    }

    /// The line of the session that was opened.
    func line() async throws -> String {
        try await onLoop { shard in shard.connections.values.map { $0.line }.joined() }
    }

    /// A client's frame, with a mask of zeros.
    static func frame(_ first: UInt8, _ payload: String) -> ByteBuffer {
        let count = payload.utf8.count
        let length: [UInt8] =
            count < 126 ? [0x80 | UInt8(count)] : [0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        return ByteBuffer(bytes: [first] + length + [0, 0, 0, 0] + Array(payload.utf8))
    }

    /// Receives these texts from the client, all in one read.
    func says(_ texts: String...) async throws { try await says(texts) }

    /// Receives these texts from the client, all in one read.
    func says(_ texts: [String]) async throws {
        var bytes = ByteBuffer()
        for text in texts { bytes.writeImmutableBuffer(Self.frame(0x81, text)) }
        try await channel.writeInbound(bytes)
    }

    /// Receives a WebSocket close frame from the client.
    func closes() async throws { try await channel.writeInbound(Self.frame(0x88, "")) }

    /// The connection is lost.
    func isLost() async throws { try await channel.close() }

    var isOpen: Bool { channel.isActive }

    /// For each time that auto-read was set, whether it was turned on.
    var readings: [Bool] {
        channel.options.compactMap { $0.option is ChannelOptions.Types.AutoReadOption ? $0.value as? Bool : nil }
    }

    /// The frames sent to the client since the last call: texts as they are, other frames as their first byte.
    func told() async throws -> [String] {
        var bytes: [UInt8] = []
        while let written = try await channel.readOutbound(as: ByteBuffer.self) {
            bytes += Array(written.readableBytesView)
        }
        var told: [String] = []
        while bytes.count >= 2 {
            var length = Int(bytes[1]), header = 2
            if length == 126 {
                length = Int(bytes[2]) << 8 | Int(bytes[3])
                header = 4
            }
            let payload = bytes[header..<header + length]
            told.append(bytes[0] == 0x81 ? String(decoding: payload, as: UTF8.self) : Self.name(bytes[0], payload))
            bytes.removeFirst(header + length)
        }
        return told
    }

    private static func name(_ first: UInt8, _ payload: ArraySlice<UInt8>) -> String {
        first == 0x88 ? "close \(payload.reduce(0) { $0 << 8 | Int($1) })" : "frame \(first)"
    }

    /// Answers the shard's command of this number, as a service would.
    func answer(_ number: Int, _ write: @escaping @Sendable (inout FieldWriter) -> Void) async throws {
        try await onLoop { shard in
            var fields = FieldWriter()
            write(&fields)
            shard.sender.received(CommandID("test-\(number)"), .success(fields.encoded))
        }
    }

    /// Refuses the shard's command of this number, as a service that is out of order would.
    func refuse(_ number: Int) async throws {
        try await onLoop { shard in
            let error = SignalingError(.failed, .unavailable, "out of order")
            shard.sender.received(CommandID("test-\(number)"), .failure(error))
        }
    }

    /// Lets time pass for what is scheduled on the shard's loop.
    func pass(_ time: TimeAmount) async { await channel.testingEventLoop.advanceTime(by: time) }

    /// Answers the first command: presence knows the app.
    func appIsKnown() async throws {
        try await answer(1) { AppSettings(certificate: "", tokenRequired: false).write(to: &$0) }
    }

    /// Answers the second command: presence has opened the session.
    func sessionIsOpened() async throws { try await answer(2) { SessionOpened(uid: 7).write(to: &$0) } }
}
