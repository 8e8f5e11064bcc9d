package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

extension LinkBootstrap {
    /// Asks one discovery URL after another, in random order, until one answers.
    /// - Parameters:
    ///   - texts: the URLs; what is none is left out.
    ///   - channel: the channel at whose gateways the client wants to be; nil for any gateway.
    /// - Returns: the gateways; none when no URL has a usable answer.
    package func discover(_ texts: [String], app: String, channel: String?) -> EventLoopFuture<[GatewayEndpoint]> {
        ask(texts.compactMap { try? DiscoveryURL($0) }.shuffled()[...], app, channel)
    }

    private func ask(
        _ urls: ArraySlice<DiscoveryURL>, _ app: String, _ channel: String?
    ) -> EventLoopFuture<[GatewayEndpoint]> {
        guard let url = urls.first else { return eventLoop.makeSucceededFuture([]) }
        return DiscoveryRequest.ask(url, app: app, channel: channel, over: self).flatMap { found in
            found.isEmpty ? ask(urls.dropFirst(), app, channel) : eventLoop.makeSucceededFuture(found)
        }
    }
}

/// A request to one discovery URL. Bound to its event loop.
final class DiscoveryRequest: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The largest answer in bytes.
    static let answerBound = 65_536

    private let url: DiscoveryURL
    private let target: String
    private var body: [UInt8] = []
    private var isOK = false
    private var promise: EventLoopPromise<[GatewayEndpoint]>?

    private init(url: DiscoveryURL, target: String, promise: EventLoopPromise<[GatewayEndpoint]>) {
        self.url = url
        self.target = target
        self.promise = promise
    }

    /// Sends the request.
    /// - Parameter channel: the channel at whose gateways the client wants to be; nil for any gateway.
    /// - Returns: the gateways; none when no usable answer arrives within the bootstrap's timeout.
    static func ask(
        _ url: DiscoveryURL, app: String, channel: String?, over bootstrap: LinkBootstrap
    ) -> EventLoopFuture<[GatewayEndpoint]> {
        let promise = bootstrap.eventLoop.makePromise(of: [GatewayEndpoint].self)
        let target = url.target(app: app, channel: channel)
        let connecting = bootstrap.bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try bootstrap.addTLS(channel, url.endpoint)
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(
                    DiscoveryRequest(url: url, target: target, promise: promise))
            }
        }.connect(host: url.endpoint.host, port: url.endpoint.port)
        connecting.whenFailure { _ in promise.succeed([]) }
        let timeout = bootstrap.timeout
        connecting.whenSuccess { channel in
            let limit = channel.eventLoop.scheduleTask(in: timeout.amount) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in limit.cancel() }
        }
        return promise.futureResult
    }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: target,
            headers: ["Host": url.endpoint.hostHeader, "Connection": "close"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isOK = head.status == .ok
        case .body(let part):
            body.append(contentsOf: part.readableBytesView)
            if body.count > Self.answerBound { finish(context, []) }
        case .end: finish(context, isOK ? url.endpoints(in: body) : [])
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish(context, []) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(context, []) }

    private func finish(_ context: ChannelHandlerContext, _ found: [GatewayEndpoint]) {
        let waiting = promise
        promise = nil
        waiting?.succeed(found)
        context.close(promise: nil)
    }
}
