package import NIOCore
package import NIOHTTP1

/// Answers the requests of one HTTP/1 connection, for every listener of the cluster that speaks HTTP.
///
/// It stands behind NIO's HTTP server pipeline. A connection ends with the answer that says `Connection: close`, when an
/// `IdleStateHandler` before this one finds it idle, and on errors.
package final class HTTPResponderHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundOut = HTTPServerResponsePart

    /// How long a connection is of use.
    package enum Persistence: Sendable {
        /// For as many requests as the client wants. Needs NIO's pipelining assistance, so that they come one by one.
        case asRequested
        /// For one request; closed if the handler is still there after this time, answered or not.
        case oneRequest(within: TimeAmount)
    }

    private let responder: any HTTPResponder
    private let persistence: Persistence
    private let isHarmless: (any Error) -> Bool
    private var timeout: Scheduled<Void>?
    private var head: HTTPRequestHead?
    /// Whether the last request of the connection was there; what follows it is not looked at.
    private var isLast = false

    /// Makes the handler of one connection.
    /// - Parameter isHarmless: whether the connection goes on after an error of the pipeline; default: after none.
    package init(
        _ responder: any HTTPResponder, persistence: Persistence,
        isHarmless: @escaping (any Error) -> Bool = { _ in false }
    ) {
        self.responder = responder
        self.persistence = persistence
        self.isHarmless = isHarmless
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        guard case .oneRequest(let time) = persistence else { return }
        let channel = context.channel
        timeout = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLast else { return }
        switch unwrapInboundIn(data) {
        case .head(let received): head = received
        case .body: break
        case .end:
            guard let request = head else { return }
            head = nil
            let keepsAlive = keepsAlive(request)
            isLast = !keepsAlive
            answer(request, keepsAlive: keepsAlive, on: context.channel)
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isHarmless(error) { context.close(promise: nil) }
    }

    private func keepsAlive(_ request: HTTPRequestHead) -> Bool {
        switch persistence {
        case .asRequested: request.isKeepAlive
        case .oneRequest: false
        }
    }

    private func answer(_ request: HTTPRequestHead, keepsAlive: Bool, on channel: any Channel) {
        let responder = responder
        channel.eventLoop.makeFutureWithTask { await responder.answer(request) }.whenSuccess { answer in
            let head = Self.head(of: answer, to: request, keepsAlive: keepsAlive)
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            if request.method != .HEAD, !answer.body.isEmpty {
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
            }
            let written = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
            if !keepsAlive { written.whenComplete { _ in channel.close(promise: nil) } }
        }
    }

    private static func head(
        of answer: HTTPAnswer, to request: HTTPRequestHead, keepsAlive: Bool
    ) -> HTTPResponseHead {
        var headers = answer.headers
        headers.add(name: "Content-Type", value: answer.contentType)
        headers.add(name: "Content-Length", value: String(answer.body.count))
        headers.add(name: "Connection", value: keepsAlive ? "keep-alive" : "close")
        return HTTPResponseHead(version: request.version, status: answer.status, headers: headers)
    }
}
