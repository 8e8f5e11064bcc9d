import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Testing

@testable import SignalingClient

/// Connections to servers that are not gateways, and connections that the client gives up.
@Suite("LinkBootstrap", .timeLimit(.minutes(1)))
struct LinkBootstrapTests {
    /// Writes a fixed answer when the first bytes arrive.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private var answer: String?

        init(_ answer: String?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let text = answer else { return }
            answer = nil
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }
    }

    /// Connects to a server and waits until the server sees the connection close.
    /// - Returns: whether the link was opened.
    private func opens(
        timeout: ClientDuration = .seconds(3600), _ serve: @escaping @Sendable (any Channel) throws -> Void
    ) async throws -> Bool {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let accepted = loop.makePromise(of: (any Channel).self)
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try serve(channel) }.map { accepted.succeed(channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let bootstrap = LinkBootstrap(eventLoop: loop, tls: ClientTLS(), timeout: timeout)
        let opening = bootstrap.connect(to: GatewayEndpoint(host: "127.0.0.1", port: port)) { nil }
        let opened = (try? await opening.get()) != nil
        try await accepted.futureResult.flatMap(\.closeFuture).get()
        try await server.close()
        return opened
    }

    private static let noKey = """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: upgrade\r
        Sec-WebSocket-Accept: c29tZXRoaW5nIGVsc2U=\r
        \r\n
        """

    @Test(arguments: ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-x\r\n", noKey])
    func aServerThatDoesNotSpeakWebSocketIsLeft(answer: String) async throws {
        let opened = try await opens { channel in try channel.pipeline.syncOperations.addHandler(Answering(answer)) }
        #expect(!opened)
    }

    @Test func aServerThatNeverAnswersIsLeft() async throws {
        let opened = try await opens(timeout: .milliseconds(50)) { channel in
            try channel.pipeline.syncOperations.addHandler(Answering(nil))
        }
        #expect(!opened)
    }

    @Test func aConnectionThatIsNotWantedAnyMoreIsClosed() async throws {
        let opened = try await opens { channel in
            let upgrader = NIOWebSocketServerUpgrader(
                shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
                upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
        }
        #expect(!opened)
    }
}
