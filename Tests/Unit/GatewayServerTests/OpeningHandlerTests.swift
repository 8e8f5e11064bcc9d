import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServiceKit
import Testing
import WebSocketWire

@testable import GatewayServer

@Suite struct OpeningHandlerTests {
    private static let head = Array(
        """
        GET / HTTP/1.1\r
        Host: a\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r\n
        """.utf8)
    private static let answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nConnection: upgrade\r\n\r\n"

    /// Keeps the bytes that reach it.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private(set) var bytes: [UInt8] = []
        private(set) var reads = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += Array(buffer: unwrapInboundIn(data))
            reads += 1
        }
    }

    /// The socket below: while it is full, writes wait until it has room, or fail when it is closed.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        var isFull = false
        private var waiting: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
        private var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard isFull else { return context.write(data, promise: promise) }
            waiting.append((data, promise))
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for late in takeWaiting() { late.promise?.fail(ChannelError.ioOnClosedChannel) }
            context.close(mode: mode, promise: promise)
        }

        func hasRoom() {
            isFull = false
            for late in takeWaiting() { context?.write(late.data, promise: late.promise) }
            context?.flush()
        }

        private func takeWaiting() -> [(data: NIOAny, promise: EventLoopPromise<Void>?)] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// A connection that is opened, and what it becomes.
    private final class Scene {
        let channel = EmbeddedChannel()
        let socket = Socket()
        let collector = Collector()
        private(set) var became: [String] = []

        init(fails: Bool = false) throws {
            struct Refused: Error {}
            let next = OpeningHandler.Next(
                webSocket: { [unowned self] channel in
                    if fails { throw Refused() }
                    became.append("webSocket")
                    try channel.pipeline.syncOperations.addHandler(collector)
                },
                http: { [unowned self] channel, time in
                    became.append("http \(time.components.seconds)")
                    try channel.pipeline.syncOperations.addHandler(collector)
                })
            try channel.pipeline.syncOperations.addHandler(socket)
            try channel.pipeline.syncOperations.addHandler(OpeningHandler(within: .seconds(10), next: next))
            channel.connect(to: try SocketAddress(unixDomainSocketPath: "/x"), promise: nil)
        }

        // An open channel and its handlers keep each other.
        deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

        func receive(_ bytes: some Collection<UInt8>) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

        func sent() throws -> String {
            var text = ""
            while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text
        }

        func isOpening() -> Bool {
            (try? channel.pipeline.syncOperations.handler(type: OpeningHandler.self)) != nil
        }
    }

    @Test(arguments: [1, 7, 1000]) func aHandshakeInPieces(_ size: Int) throws {
        let scene = try Scene()
        let bytes = Self.head + [1, 2, 3]
        for start in stride(from: 0, to: bytes.count, by: size) {
            try scene.receive(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(try scene.sent() == Self.answer)
        #expect(scene.became == ["webSocket"] && scene.collector.bytes == [1, 2, 3] && !scene.isOpening())
        try scene.receive([4])
        #expect(scene.collector.bytes == [1, 2, 3, 4])
    }

    /// The decoder sees all bytes from the first on, and the client has no more time than before.
    @Test func everythingElseIsHTTP() throws {
        let scene = try Scene()
        try scene.receive(Array("GET /".utf8))
        #expect(scene.became == [])
        try scene.receive(Array("getaddr HTTP/1.1\r\n".utf8))
        #expect((scene.became == ["http 9"] || scene.became == ["http 10"]) && !scene.isOpening())
        #expect(scene.collector.bytes == Array("GET /getaddr HTTP/1.1\r\n".utf8))
        #expect(try scene.sent() == "")
    }

    @Test func whoSaysNothingIsCutOff() throws {
        let scene = try Scene()
        try scene.receive(Array("GET / HTTP/1.1\r\n".utf8))
        scene.channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(scene.channel.isActive)
        scene.channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(!scene.channel.isActive && scene.became == [])
    }

    /// Each byte is progress, but none of them gives the client more time.
    @Test func whoSendsAByteASecondIsCutOff() throws {
        let scene = try Scene()
        for byte in Self.head.prefix(10) {
            #expect(scene.channel.isActive)
            try scene.receive([byte])
            scene.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(!scene.channel.isActive && scene.became == [])
    }

    /// Neither the timer stays, which would keep the channel for the rest of its 10 s, nor what was read of the head.
    @Test func whoLeavesInTheMiddleLeavesNothing() throws {
        weak var channel: EmbeddedChannel?
        weak var handler: OpeningHandler?
        let loop: EmbeddedEventLoop
        do {
            let scene = try Scene()
            loop = scene.channel.embeddedEventLoop
            channel = scene.channel
            handler = try scene.channel.pipeline.syncOperations.handler(type: OpeningHandler.self)
            try scene.receive(Self.head.prefix(40))
            #expect(channel != nil && handler != nil)
            scene.channel.close(promise: nil)
            loop.run()
            #expect(scene.became == [])
        }
        #expect(channel == nil && handler == nil)
        // The loop lives until here, and with it the timers that it has.
        loop.advanceTime(by: .seconds(100))
    }

    @Test func whatFollowsTheHeadInOneReadIsHandedOverOnce() throws {
        let scene = try Scene()
        let frame = (0..<65_550).map { UInt8($0 % 251) }
        try scene.receive(Self.head + frame)
        #expect(try scene.sent() == Self.answer)
        #expect(scene.collector.bytes == frame && scene.collector.reads == 1 && !scene.isOpening())
    }

    @Test func whatComesWhileTheAnswerWaitsIsKeptInOrder() throws {
        let scene = try Scene()
        scene.socket.isFull = true
        try scene.receive(Self.head + [1])
        try scene.receive([2, 3])
        try scene.receive([4])
        #expect(try scene.sent() == "")
        #expect(scene.became == [] && scene.collector.bytes == [] && scene.isOpening())
        scene.socket.hasRoom()
        #expect(try scene.sent() == Self.answer)
        #expect(scene.became == ["webSocket"] && scene.collector.bytes == [1, 2, 3, 4] && !scene.isOpening())
        try scene.receive([5])
        #expect(scene.collector.bytes == [1, 2, 3, 4, 5])
    }

    @Test func whoSendsOnWithoutTakingTheAnswerIsCutOff() throws {
        let scene = try Scene()
        scene.socket.isFull = true
        try scene.receive(Self.head)
        try scene.receive([UInt8](repeating: 1, count: OpeningHandler.waitingBound))
        #expect(scene.channel.isActive)
        try scene.receive([1])
        #expect(!scene.channel.isActive && scene.became == [])
    }

    @Test func aShardThatRefusesClosesTheConnection() throws {
        let scene = try Scene(fails: true)
        try scene.receive(Self.head)
        #expect(!scene.channel.isActive)
    }

    // MARK: - Beside a whole HTTP decoder

    /// What the pipeline of HTTP answers to the same bytes: `Sec-WebSocket-Accept`, nil when it does not upgrade.
    private func upgrade(_ bytes: [UInt8]) throws -> String? {
        let channel = EmbeddedChannel()
        let upgrader = WebSocketUpgrader { _ in }
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }),
            withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: HTTPHeadBound.limits)
        channel.connect(to: try SocketAddress(unixDomainSocketPath: "/x"), promise: nil)
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
        var text = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        guard text.hasPrefix("HTTP/1.1 101") else { return nil }
        return text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-accept:") }
            .map { $0.split(separator: " ")[1] }.map(String.init)
    }

    /// Heads with random changes: whatever the short way accepts, the long way accepts with the same answer.
    @Test func nothingIsAcceptedThatHTTPRefuses() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces: [[UInt8]] = [
            "\r\n", "\n", "\r", " ", ":", ",", "Host: b\r\n", "Upgrade: x\r\n", "upgrade", "websocket", "13", "\t",
            "\0", "\u{7F}",
            "Content-Length: 1\r\n", "X: y\r\n", "Connection: close\r\n", "HTTP/1.1", "GET", "/", "?", "==",
        ].map { Array($0.utf8) }
        var accepted = 0
        for _ in 0..<2000 {
            var bytes = Self.head
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(bytes.count, place + Int.random(in: 0...3, using: &generator))
                bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &generator) ?? [])
            }
            guard case .webSocket(let accept, _) = OpeningHead(bytes.span) else { continue }
            accepted += 1
            let other = try upgrade(bytes)
            #expect(other == accept, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
        }
        #expect(accepted > 500)
    }
}
