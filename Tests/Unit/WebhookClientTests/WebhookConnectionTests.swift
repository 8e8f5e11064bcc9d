import BusProtocol
import NIOCore
import NIOEmbedded
import Testing

@testable import WebhookClient

/// How long one connection to an app's server is kept.
@Suite final class WebhookConnectionTests {
    private let channel = EmbeddedChannel()
    private let url: WebhookURL
    private let connection: WebhookConnection

    init() throws {
        url = try #require(WebhookURL("http://127.0.0.1:1/"))
        connection = try WebhookConnection(channel, to: url, tls: nil)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    // An open channel and its handlers keep each other.
    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    /// A request that is answered.
    private func request() throws {
        let promise = channel.eventLoop.makePromise(of: WebhookAnswer.self)
        connection.post(
            WebhookTransport.Message("{}", signature: "t=1,v1=0"), to: url, ExpectedAnswer(promise: promise, bound: 10))
        channel.embeddedEventLoop.run()
        try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        #expect(try promise.futureResult.wait().status == 200)
    }

    @Test func closedWhenNoRequestComesInTime() throws {
        try request()
        connection.wait(atMost: .seconds(4))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(3999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test func aRequestEndsTheWait() throws {
        try request()
        connection.wait(atMost: .seconds(4))
        try request()
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(channel.isActive)
    }

    @Test func aConnectionThatIsTooOldIsNotUsedAgain() throws {
        #expect(!connection.isReusable(age: .hours(1)), "nothing was answered yet")
        try request()
        #expect(connection.isReusable(age: .hours(1)))
        #expect(!connection.isReusable(age: .zero))
    }
}
