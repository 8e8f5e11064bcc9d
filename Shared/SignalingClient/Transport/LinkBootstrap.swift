package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

/// Opens WebSocket connections.
package struct LinkBootstrap: Sendable {
    let eventLoop: any EventLoop
    let tls: ClientTLS
    /// The time limit for connecting, and again for the handshakes after it.
    let timeout: ClientDuration

    /// - Parameter timeout: the time limit for connecting, and again for the handshakes after it.
    package init(eventLoop: any EventLoop, tls: ClientTLS, timeout: ClientDuration) {
        self.eventLoop = eventLoop
        self.tls = tls
        self.timeout = timeout
    }

    /// Connects and performs the handshakes.
    /// - Parameter makeLink: creates the link on the event loop, once the gateway has agreed to WebSocket; nil when the
    ///   connection is not wanted any more.
    func connect(to endpoint: GatewayEndpoint, makeLink: @escaping @Sendable () -> Link?) -> EventLoopFuture<Void> {
        let upgraded = eventLoop.makePromise(of: Void.self)
        let connecting = bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try addTLS(channel, endpoint)
                try upgrade(channel, endpoint, makeLink, upgraded)
            }
        }.connect(host: endpoint.host, port: endpoint.port)
        connecting.whenFailure { upgraded.fail($0) }
        connecting.whenSuccess { channel in
            let limit = channel.eventLoop.scheduleTask(in: timeout.amount) { channel.close(promise: nil) }
            upgraded.futureResult.whenComplete { _ in limit.cancel() }
        }
        return upgraded.futureResult
    }

    var bootstrap: ClientBootstrap {
        ClientBootstrap(group: eventLoop).connectTimeout(timeout.amount)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
    }

    func addTLS(_ channel: any Channel, _ endpoint: GatewayEndpoint) throws {
        guard endpoint.secure else { return }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let file = tls.trustRootsFile { configuration.trustRoots = .file(file) }
        let context = try NIOSSLContext(configuration: configuration)
        let name = tls.serverName ?? (Self.isAddress(endpoint.host) ? nil : endpoint.host)
        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
    }

    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

    /// Adds the handlers of the WebSocket upgrade. NIO's typed upgrade would be shorter,
    /// but requires iOS 16 and macOS 13.
    private func upgrade(
        _ channel: any Channel, _ endpoint: GatewayEndpoint, _ makeLink: @escaping @Sendable () -> Link?,
        _ upgraded: EventLoopPromise<Void>
    ) throws {
        let request = UpgradeRequest(endpoint, upgraded)
        let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: Link.messageBound) { channel, _ in
            channel.eventLoop.makeCompletedFuture { try Self.addLink(to: channel, makeLink) }.always {
                upgraded.completeWith($0)
            }
        }
        let boundRequest = NIOLoopBound(request, eventLoop: channel.eventLoop)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers(
            withClientUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(boundRequest.value, promise: nil)
                }
            ))
        try pipeline.addHandler(request)
    }

    private static func addLink(to channel: any Channel, _ makeLink: () -> Link?) throws {
        guard let link = makeLink() else {
            channel.close(promise: nil)
            throw NotWanted()
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4096,
                maxAccumulatedFrameSize: Link.messageBound))
        try pipeline.addHandler(link)
    }

    /// The attempt was given up while the connection was being made.
    private struct NotWanted: Error {}
}

/// Requests WebSocket on a new connection. Leaves the pipeline when the gateway agrees;
/// otherwise closes the connection.
private final class UpgradeRequest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let endpoint: GatewayEndpoint
    private let upgraded: EventLoopPromise<Void>

    init(_ endpoint: GatewayEndpoint, _ upgraded: EventLoopPromise<Void>) {
        self.endpoint = endpoint
        self.upgraded = upgraded
    }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/",
            headers: ["Host": endpoint.hostHeader, "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    /// Only the answer of a server that does not speak WebSocket gets this far.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { fail(context, NotUpgraded()) }

    func channelInactive(context: ChannelHandlerContext) {
        fail(context, NotUpgraded())
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(context, error) }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        upgraded.fail(error)
        context.close(promise: nil)
    }

    private struct NotUpgraded: Error {}
}

extension GatewayEndpoint {
    /// The value of the `Host` header.
    var hostHeader: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension ClientDuration {
    /// As NIO's calls take it.
    var amount: TimeAmount { .milliseconds(milliseconds) }
}
