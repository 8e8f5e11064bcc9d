internal import NIOCore
internal import NIOHTTP1
internal import ServiceKit
internal import WebSocketWire

/// Answers what is no WebSocket on the public port: discovery, and 404 for the rest. One request per connection; one that
/// does not get to the point, and become a WebSocket or ask, is closed.
final class PublicHTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a connection may take to become a WebSocket or ask for discovery.
    private static let handshakeTimeout = TimeAmount.seconds(10)

    private let discovery: Discovery
    private var timeout: Scheduled<Void>?
    private var head: HTTPRequestHead?
    /// Whether the one request was there; what follows it is not looked at.
    private var hasAnswered = false

    init(discovery: Discovery) { self.discovery = discovery }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timeout = context.eventLoop.scheduleTask(in: Self.handshakeTimeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        switch unwrapInboundIn(data) {
        case .head(let received): head = received
        case .body: break
        case .end:
            guard let request = head else { return }
            hasAnswered = true
            answer(request, on: context.channel)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The request follows, to be answered here.
        if error is WebSocketUpgrader.Refusal { return }
        context.close(promise: nil)
    }

    private func answer(_ request: HTTPRequestHead, on channel: any Channel) {
        let query = HTTPQuery(target: request.uri)
        let discovery = discovery
        let answered = channel.eventLoop.makeFutureWithTask {
            switch (request.method, query.path) {
            case (.GET, "/getaddr"), (.HEAD, "/getaddr"): await discovery.answer()
            case (_, "/getaddr"): HTTPAnswer.json(status: 405, #"{"error":"only GET"}"#)
            case (_, "/"):
                HTTPAnswer.json(
                    status: 426, #"{"error":"WebSocket only"}"#,
                    headers: [.init("Sec-WebSocket-Version", WebSocketHandshake.version)])
            default: HTTPAnswer.json(status: 404, #"{"error":"no such path"}"#)
            }
        }
        answered.whenSuccess { answer in
            var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
            headers.add(name: "Content-Type", value: answer.contentType)
            headers.add(name: "Content-Length", value: String(answer.body.count))
            headers.add(name: "Connection", value: "close")
            let status = HTTPResponseStatus(statusCode: answer.status)
            let head = HTTPResponseHead(version: request.version, status: status, headers: headers)
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            if request.method != .HEAD {
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
            }
            channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
