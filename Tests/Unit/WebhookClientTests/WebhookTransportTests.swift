import BusProtocol
import NIOCore
import NIOPosix
import SignalingProtocol
import Testing
import WebhookClient

/// Requests to a server that writes fixed bytes once something has arrived, and then closes or hangs.
@Suite struct WebhookTransportTests {
    private static let bound = 1000

    private func answer(
        to bytes: String, thenCloses: Bool = true, allowed: AllowedNetworks = .loopback,
        within time: Duration = .seconds(10)
    ) async throws -> Result<WebhookAnswer, WebhookFailure> {
        let listening = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FixedAnswer(bytes, thenCloses: thenCloses))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listening.localAddress?.port)
        let url = try #require(WebhookURL("http://127.0.0.1:\(port)/"))
        let transport = WebhookTransport()
        let result = await transport.post(
            WebhookTransport.Message("{}", signature: "t=1,v1=0"),
            to: WebhookTransport.Destination(url, allowed: allowed), within: time, answerBytes: Self.bound)
        await transport.close()
        try await listening.close()
        return result
    }

    private func withLength(_ count: Int, _ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(body)"
    }

    @Test func aWholeAnswer() async throws {
        let body = String(repeating: "x", count: Self.bound)
        let result = try await answer(to: withLength(Self.bound, body), thenCloses: false)
        #expect(result == .success(WebhookAnswer(status: 200, body: Array(body.utf8))))
    }

    @Test func anAnswerThatIsTooLongIsCut() async throws {
        let body = String(repeating: "x", count: Self.bound + 1)
        let result = try await answer(to: withLength(Self.bound + 1, body), thenCloses: false)
        #expect(
            result
                == .success(WebhookAnswer(status: 200, body: Array(body.utf8.prefix(Self.bound)), isWhole: false)))
    }

    @Test func anAnswerThatEndsEarlyIsNotWhole() async throws {
        let result = try await answer(to: withLength(9, "half"))
        #expect(try result.get().status == 200)
        #expect(try !result.get().isWhole)
    }

    @Test(
        arguments: [("", .broken), ("no HTTP\r\n\r\n", .broken), ("HTTP/1.1 20", .broken)]
            as [(String, WebhookFailure.Cause)])
    func noAnswer(_ bytes: String, _ cause: WebhookFailure.Cause) async throws {
        guard case .failure(let failure) = try await answer(to: bytes) else {
            Issue.record("there was an answer")
            return
        }
        #expect(failure.cause == cause)
    }

    /// An answer whose head has so many bytes in headers, besides its first line.
    private func withHeaders(_ bytes: Int) -> String {
        let line = "X-Padding: \(String(repeating: "x", count: 987))\r\n"
        return "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: bytes / line.utf8.count) + "\r\n"
    }

    private static let tooLarge = WebhookFailure(.broken, "the answer's head has more than 16384 bytes")

    @Test func aLargeHeadIsTaken() async throws {
        #expect(try await answer(to: withHeaders(15_000)).get().status == 200)
    }

    @Test func aHeadThatIsTooLargeIsNoAnswer() async throws {
        let result = try await answer(to: withHeaders(40_000), thenCloses: false)
        #expect(result == .failure(Self.tooLarge))
    }

    @Test func informationalHeadsCount() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        let many = String(repeating: early, count: 16_384 / early.utf8.count + 1)
        #expect(try await answer(to: many, thenCloses: false) == .failure(Self.tooLarge))
        let few = String(repeating: early, count: 100)
        #expect(try await answer(to: few + withLength(0, "")).get().status == 200)
    }

    @Test func theTimeLimitHolds() async throws {
        let result = try await answer(to: "HTTP/1.1 20", thenCloses: false, within: .milliseconds(100))
        #expect(result == .failure(WebhookFailure(.timeout, "no answer in time")))
    }

    @Test(arguments: [[], .privateOnes] as [AllowedNetworks])
    func loopbackNeedsLeave(_ allowed: AllowedNetworks) async throws {
        guard case .failure(let failure) = try await answer(to: withLength(2, "ok"), allowed: allowed) else {
            Issue.record("loopback was asked")
            return
        }
        #expect(failure.cause == .address)
    }

    // MARK: - To reach a server without a request

    private func reach(
        _ url: String, _ allowed: AllowedNetworks = .loopback
    ) async throws -> WebhookFailure? {
        let transport = WebhookTransport()
        let failure = await transport.reach(
            WebhookTransport.Destination(try #require(WebhookURL(url)), allowed: allowed), within: .seconds(10))
        await transport.close()
        return failure
    }

    @Test func aServerThatListensIsReached() async throws {
        let listening = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listening.localAddress?.port)
        #expect(try await reach("http://127.0.0.1:\(port)/") == nil)
        // The addresses that requests may not go to are not tried.
        #expect(try await reach("http://127.0.0.1:\(port)/", [])?.cause == .address)
        try await listening.close()
        #expect(
            try await reach("http://127.0.0.1:\(port)/")
                == WebhookFailure(.connect, "could not connect: Connection refused"))
    }

    @Test func aServerWithoutAnAddressIsNotReached() async throws {
        #expect(try await reach("http://no-such-host.invalid/")?.cause == .name)
    }
}

/// Writes fixed bytes once something has arrived.
private final class FixedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: String
    private let thenCloses: Bool
    private var isDone = false

    init(_ bytes: String, thenCloses: Bool) {
        self.bytes = bytes
        self.thenCloses = thenCloses
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !isDone else { return }
        isDone = true
        let written = context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: bytes)))
        if thenCloses { written.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
    }
}
