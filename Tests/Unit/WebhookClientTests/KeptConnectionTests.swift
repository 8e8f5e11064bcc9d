import BusProtocol
import NIOCore
import NIOPosix
import SignalingProtocol
import Synchronization
import Testing
import WebhookClient

/// Several requests, one after the other, to a server that counts its connections.
@Suite struct KeptConnectionTests {
    /// Makes requests to a server.
    /// - Parameter answers: what the server writes for each request of a connection; it closes one that has no more.
    /// - Returns: the statuses, and the number of connections.
    private func requests(_ count: Int, answers: [String]) async throws -> ([Int], connections: Int) {
        let counted = Counted()
        let listening = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                counted.add()
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answers(answers))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listening.localAddress?.port)
        let url = try #require(WebhookURL("http://127.0.0.1:\(port)/"))
        let transport = WebhookTransport()
        var statuses: [Int] = []
        for _ in 0..<count {
            let result = await transport.post(
                .init("{}", signature: "t=1,v1=0"), to: .init(url, allowed: .loopback), within: .seconds(60),
                answerBytes: 10)
            statuses.append(try result.get().status)
        }
        await transport.close()
        try await listening.close()
        return (statuses, counted.count)
    }

    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func oneConnectionForAll() async throws {
        let (statuses, connections) = try await requests(
            3, answers: [Self.plain, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", Self.plain])
        #expect(statuses == [200, 503, 200])
        #expect(connections == 1)
    }

    @Test(
        arguments: [
            // The server says that it closes the connection, or speaks a version that does.
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            // More than is read.
            "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789",
        ])
    func notAfter(_ answer: String) async throws {
        let (statuses, connections) = try await requests(2, answers: [answer, answer])
        #expect(statuses == [200, 200])
        #expect(connections == 2)
    }

    @Test("Bytes after an answer are not taken for the next one") func smuggledAnswers() async throws {
        let forged = "HTTP/1.1 201 Forged\r\nContent-Length: 0\r\n\r\n"
        let (statuses, _) = try await requests(2, answers: [Self.plain + forged, Self.plain])
        #expect(statuses == [200, 200])
    }

    @Test("A kept connection that its server closes at the next request costs no failure") func closedMeanwhile()
        async throws
    {
        let (statuses, connections) = try await requests(3, answers: [Self.plain])
        #expect(statuses == [200, 200, 200])
        #expect(connections == 3)
    }

}

/// How many connections a server has got.
private final class Counted: Sendable {
    private let connections = Mutex(0)

    var count: Int { connections.withLock { $0 } }

    func add() { connections.withLock { $0 += 1 } }
}

/// Writes one answer for each read, and closes the connection when it has no more.
private final class Answers: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var answers: ArraySlice<String>

    init(_ answers: [String]) { self.answers = answers[...] }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A request's body may come apart from its head.
        guard unwrapInboundIn(data).readableBytesView.suffix(2).elementsEqual("{}".utf8) else { return }
        guard let answer = answers.popFirst() else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: answer)), promise: nil)
    }
}
