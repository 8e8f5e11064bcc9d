import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ServiceKit

@Suite("HTTP on a connection", .timeLimit(.minutes(1)))
struct HTTPResponderHandlerTests {
    private struct Echo: HTTPResponder {
        func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
            .json(status: .upgradeRequired, "\"\(HTTPTarget.path(of: request.uri))\"", headers: ["X-Echo": "1"])
        }
    }

    private struct PipelineError: Error {}

    /// Fires an error into the pipeline with each part of a request.
    private final class Faulty: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.fireErrorCaught(PipelineError())
            context.fireChannelRead(data)
        }
    }

    /// Sends text to a listener and returns all that it answers until it closes the connection.
    private func exchange(
        _ text: String, _ persistence: HTTPResponderHandler.Persistence, faulty: Bool = false, isHarmless: Bool = false
    ) async throws -> String {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    if faulty { try pipeline.addHandler(Faulty()) }
                    try pipeline.addHandler(
                        HTTPResponderHandler(Echo(), persistence: persistence) { _ in isHarmless })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        defer { listener.close(promise: nil) }
        let client = try await ClientBootstrap(group: group)
            .connect(host: "127.0.0.1", port: try #require(listener.localAddress?.port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await client.executeThenClose { inbound, outbound in
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var answer = ""
            for try await buffer in inbound { answer += String(buffer: buffer) }
            return answer
        }
    }

    private func answer(_ body: String, _ connection: String, version: String = "1.1", withBody: Bool = true) -> String
    {
        "HTTP/\(version) 426 Upgrade Required\r\nX-Echo: 1\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: \(connection)\r\n\r\n" + (withBody ? body : "")
    }

    @Test("Requests of one connection are answered in turn, byte by byte as expected")
    func inTurn() async throws {
        let answers = try await exchange(
            "GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n"
                + "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                + "HEAD /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            .asRequested)
        #expect(
            answers == answer(#""/a""#, "keep-alive") + answer(#""/b""#, "keep-alive")
                + answer(#""/c""#, "close", withBody: false))
        let old = try await exchange("GET / HTTP/1.0\r\n\r\n", .asRequested)
        #expect(old == answer(#""/""#, "close", version: "1.0"))
    }

    @Test("A connection for one request ends with its answer, whatever the client wants")
    func oneRequest() async throws {
        let answers = try await exchange(
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n", .oneRequest(within: .minutes(1)))
        #expect(answers == answer(#""/a""#, "close"))
    }

    @Test("A connection for one request is closed when none comes in time")
    func timeout() async throws {
        #expect(try await exchange("GET / HTTP/1.1\r\n", .oneRequest(within: .milliseconds(20))).isEmpty)
    }

    @Test("An error of the pipeline ends the connection, unless it is harmless")
    func errors() async throws {
        let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        #expect(try await exchange(request, .asRequested, faulty: true).isEmpty)
        #expect(
            try await exchange(request, .asRequested, faulty: true, isHarmless: true) == answer(#""/""#, "close"))
    }
}
