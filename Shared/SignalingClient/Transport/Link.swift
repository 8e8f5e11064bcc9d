internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

/// One WebSocket connection to a gateway. Loop-bound: made, used and called back on its event loop.
final class Link: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Bytes of one message of the gateway: the list of a channel with a million members.
    static let messageBound = 64 << 20

    private let onText: (ByteBuffer) -> Void
    private let onClose: () -> Void
    private var context: ChannelHandlerContext?
    private var isReading = true
    private var wantsRead = false

    init(onText: @escaping (ByteBuffer) -> Void, onClose: @escaping () -> Void) {
        self.onText = onText
        self.onClose = onClose
    }

    func send(_ text: [UInt8]) { write(.text, ByteBuffer(bytes: text)) }

    /// Closes without a word, so that the session stays resumable.
    func close() { context?.close(promise: nil) }

    /// Stops or goes on reading: the gateway's writes wait in between.
    func setReading(_ reading: Bool) {
        isReading = reading
        guard reading, wantsRead else { return }
        wantsRead = false
        context?.read()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        onClose()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text: onText(frame.unmaskedData)
        case .ping: write(.pong, frame.unmaskedData)
        case .connectionClose:
            write(.connectionClose, frame.unmaskedData)
            context.close(promise: nil)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        guard let context else { return }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

extension Link: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame

    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { wantsRead = true }
    }
}

/// Opens links.
struct LinkBootstrap {
    let eventLoop: any EventLoop
    let tls: ClientTLS
    let timeout: TimeAmount

    /// Connects and shakes hands. The handler is called back on the event loop; before the future succeeds it says nothing.
    func connect(to endpoint: GatewayEndpoint, makeLink: @escaping @Sendable () -> Link) -> EventLoopFuture<Void> {
        let upgraded = eventLoop.makePromise(of: Void.self)
        let connecting = bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try addTLS(channel, endpoint)
                try upgrade(channel, endpoint, makeLink).cascade(to: upgraded)
            }
        }.connect(host: endpoint.host, port: endpoint.port)
        connecting.whenFailure { upgraded.fail($0) }
        return upgraded.futureResult
    }

    var bootstrap: ClientBootstrap {
        ClientBootstrap(group: eventLoop).connectTimeout(timeout)
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

    private func upgrade(
        _ channel: any Channel, _ endpoint: GatewayEndpoint, _ makeLink: @escaping @Sendable () -> Link
    ) throws -> EventLoopFuture<Void> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Void>(
            maxFrameSize: Link.messageBound,
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let aggregator = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4096,
                        maxAccumulatedFrameSize: Link.messageBound)
                    try pipeline.addHandler(aggregator)
                    try pipeline.addHandler(makeLink())
                }
            })
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/",
            headers: ["Host": endpoint.hostHeader, "Content-Length": "0"])
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Void>(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(NotUpgraded())
            })
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration))
    }

    /// The peer speaks HTTP, but no WebSocket.
    private struct NotUpgraded: Error {}
}

extension GatewayEndpoint {
    /// The value of the `Host` header.
    var hostHeader: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
