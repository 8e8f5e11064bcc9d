package import NIOCore
package import NIOHTTP1

/// Decides on the answer to a request; ``HTTPResponderHandler`` reads requests and writes answers.
package protocol HTTPResponder: Sendable {
    /// Answers one request; the request's body is ignored.
    func answer(_ request: HTTPRequestHead) async -> HTTPAnswer
}

/// Answers the requests of one HTTP/1 connection; used by all HTTP listeners of the cluster.
///
/// Add it after NIO's HTTP server handlers. The connection is ended by an ``HTTPFarewell`` after an answer with
/// `Connection: close` and on errors, and closed when an `IdleStateHandler` before this handler reports it idle.
package final class HTTPResponderHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundOut = HTTPServerResponsePart

    /// When the connection is closed.
    package enum Persistence: Sendable {
        /// After as many requests as the client wants. Needs NIO's pipelining assistance, so that
        /// requests arrive one at a time.
        case asRequested
        /// After one request; also closed, answered or not, if this handler is still in the
        /// pipeline after the given time.
        case oneRequest(within: Duration)
    }

    private enum Phase {
        case reading
        /// The connection's last request has been received; anything after it is ignored.
        case answeringLast
        case ending
    }

    private let responder: any HTTPResponder
    private let persistence: Persistence
    private let isHarmless: (any Error) -> Bool
    private var timeout: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var phase = Phase.reading

    /// Creates the handler of one connection.
    /// - Parameter isHarmless: whether the connection stays open after an error of the pipeline; by default never.
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
        timeout = context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .reading else { return }
        switch unwrapInboundIn(data) {
        case .head(let received): head = received
        case .body: break
        case .end:
            guard let request = head else { return }
            head = nil
            let keepsAlive = keepsAlive(request)
            if !keepsAlive { phase = .answeringLast }
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
        HTTPHeadBound.note(error)
        if !isHarmless(error) { end(context.channel) }
    }

    private func keepsAlive(_ request: HTTPRequestHead) -> Bool {
        switch persistence {
        case .asRequested: request.isKeepAlive
        case .oneRequest: false
        }
    }

    private func answer(_ request: HTTPRequestHead, keepsAlive: Bool, on channel: any Channel) {
        let responder = responder
        let answered = channel.eventLoop.makeFutureWithTask { await responder.answer(request) }
        answered.assumeIsolated().whenSuccess { [self] answer in
            let head = Self.head(of: answer, to: request, keepsAlive: keepsAlive)
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            if request.method != .HEAD, !answer.body.isEmpty {
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
            }
            let written = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
            if !keepsAlive { written.assumeIsolated().whenComplete { [self] _ in end(channel) } }
        }
    }

    private func end(_ channel: any Channel) {
        guard phase != .ending else { return }
        phase = .ending
        HTTPFarewell.begin(on: channel)
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
