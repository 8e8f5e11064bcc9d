import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import ServiceKit

@Suite("HTTPResponderHandler on a connection", .timeLimit(.minutes(1)))
struct HTTPResponderHandlerTests {
    private final class Echo: HTTPResponder {
        let requests = Mutex<[String]>([])

        func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
            requests.withLock { $0.append(request.uri) }
            return .json(status: .upgradeRequired, "\"\(HTTPTarget.path(of: request.uri))\"", headers: ["X-Echo": "1"])
        }
    }

    private struct PipelineError: Error {}

    /// What happens in the pipeline before each part of a request.
    private enum Incident {
        case none
        case error
        case idle
    }

    private final class IncidentHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        private let incident: Incident

        init(_ incident: Incident) { self.incident = incident }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch incident {
            case .none: break
            case .error: context.fireErrorCaught(PipelineError())
            case .idle: context.fireUserInboundEventTriggered(IdleStateHandler.IdleStateEvent.all)
            }
            context.fireChannelRead(data)
        }
    }

    /// Sends text to a listener and returns all that it answers until it closes the connection.
    private func exchange(
        _ text: String, _ persistence: HTTPResponderHandler.Persistence, incident: Incident = .none,
        isHarmless: Bool = false
    ) async throws -> String {
        try await exchange(text) { channel in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(IncidentHandler(incident))
            try pipeline.addHandler(HTTPResponderHandler(Echo(), persistence: persistence) { _ in isHarmless })
        }
    }

    private func exchange(
        _ text: String, serve: @escaping @Sendable (any Channel) throws -> Void
    ) async throws -> String {
        let listener = try await listener(serve)
        defer { listener.close(promise: nil) }
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
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

    private func listener(_ serve: @escaping @Sendable (any Channel) throws -> Void) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try serve(channel) } }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private func answer(_ body: String, _ connection: String, version: String = "1.1", withBody: Bool = true) -> String
    {
        "HTTP/\(version) 426 Upgrade Required\r\nX-Echo: 1\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: \(connection)\r\n\r\n" + (withBody ? body : "")
    }

    @Test("Requests on one connection are answered in order, with exactly these bytes")
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

    @Test("A one-request connection is closed after the answer, even if the client asked for keep-alive")
    func oneRequest() async throws {
        let answers = try await exchange(
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n", .oneRequest(within: .seconds(60)))
        #expect(answers == answer(#""/a""#, "close"))
    }

    @Test("A one-request connection is closed when no request arrives in time")
    func timeout() async throws {
        do {
            #expect(try await exchange("GET / HTTP/1.1\r\n", .oneRequest(within: .milliseconds(20))).isEmpty)
        } catch let error as ChannelError where error == .ioOnClosedChannel {
            // On a busy machine it is closed before the test has written.
        } catch let error as IOError where error.errnoCode == ECONNRESET {
            // Or while what was written has not been read.
        }
    }

    @Test("A pipeline error closes the connection unless it is declared harmless")
    func errors() async throws {
        let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        #expect(try await exchange(request, .asRequested, incident: .error).isEmpty)
        #expect(
            try await exchange(request, .asRequested, incident: .error, isHarmless: true) == answer(#""/""#, "close"))
    }

    @Test("A client that sends on after what cannot be read still reads its answer")
    func farewell() async throws {
        // Read in pieces, so that most of it is not read yet when the answer is written.
        let answer = try await exchange("no HTTP\r\n" + String(repeating: "x", count: HTTPFarewell.bound / 2)) {
            channel in
            try channel.syncOptions?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16))
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(HTTPResponderHandler(Echo(), persistence: .asRequested))
        }
        #expect(answer == "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test("A client that sends without end, or does not close its side, is cut off", arguments: [true, false])
    func endOfTheFarewell(sends: Bool) async throws {
        let closed = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let listener = try await listener { channel in
            channel.closeFuture.cascade(to: closed)
            // Without end: the time does not matter then.
            HTTPFarewell.begin(on: channel, patience: sends ? .seconds(3600) : .milliseconds(20))
        }
        defer { listener.close(promise: nil) }
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: try #require(listener.localAddress?.port)).get()
        if sends {
            try await client.writeAndFlush(ByteBuffer(repeating: 0, count: HTTPFarewell.bound))
            #expect(client.isActive)
            // Fails when the connection is reset meanwhile.
            try? await client.writeAndFlush(ByteBuffer(repeating: 0, count: 1))
        }
        try await closed.futureResult.get()
        client.close(promise: nil)
    }

    @Test("An idle connection is closed")
    func idle() async throws {
        let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        #expect(try await exchange(request, .asRequested, incident: .idle).isEmpty)
    }

    @Test("Of two requests sent together on a one-request connection, only the first is handled")
    func requestAfterTheLast() async throws {
        let echo = Echo()
        let answers = try await exchange("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n") {
            channel in
            let pipeline = channel.pipeline.syncOperations
            // Without pipelining assistance both requests reach the handler at once.
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
            try pipeline.addHandler(HTTPResponderHandler(echo, persistence: .oneRequest(within: .seconds(60))))
        }
        #expect(answers == answer(#""/a""#, "close"))
        #expect(echo.requests.withLock { $0 } == ["/a"])
    }

    @Test("A handler that was removed does not close the connection any more")
    func removed() async throws {
        let heard = try await exchange("") { channel in
            let pipeline = channel.pipeline.syncOperations
            let handler = HTTPResponderHandler(Echo(), persistence: .oneRequest(within: .milliseconds(1)))
            try pipeline.addHandler(handler)
            pipeline.removeHandler(handler).whenSuccess {
                channel.eventLoop.scheduleTask(in: .milliseconds(100)) {
                    channel.writeAndFlush(ByteBuffer(string: "still open")).whenComplete { _ in
                        channel.close(promise: nil)
                    }
                }
            }
        }
        #expect(heard == "still open")
    }
}
