internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The listener for clients: WebSocket on `/` and discovery on `/getaddr`; plain on one port, TLS on the next.
struct PublicListener: Sendable {
    /// The length of the kernel's accept queue; large, for the moments when many clients reconnect at once.
    private static let backlog: Int32 = 4096
    private static let answering = "answering"
    /// How long a connection may take to become a WebSocket, or to request discovery and receive the answer.
    private static let handshakeTimeout = Duration.seconds(10)
    static let tlsHandler = "tls"

    let configuration: GatewayConfiguration
    let group: any EventLoopGroup
    /// The shards by event loop: a connection belongs to the shard of its loop.
    let shards: [ObjectIdentifier: GatewayShard]
    let discovery: Discovery
    /// The certificate of the TLS port; nil: no TLS port is opened.
    let identity: TLSIdentity?
    let logger: Logger

    /// Opens the plain port and, where a certificate is configured, the TLS port. Clients that connect wait in the
    /// kernel's queue until ``accept(on:)``.
    /// - Returns: the listening channels, the plain one first.
    func bind() async throws -> [any Channel] {
        if configuration.testEchoBytes > 0 { logger.warning("test mode: WebSockets echo, nobody can log in") }
        let plain = try await bootstrap(tls: nil).bind(host: configuration.host, port: configuration.port).get()
        guard let identity, let port = plain.localAddress?.port else { return [plain] }
        let secure = try await bootstrap(tls: identity).bind(host: configuration.host, port: port + 1).get()
        return [plain, secure]
    }

    /// Begins to accept clients; no effect if it has begun already. A client whose connection the kernel gives to a
    /// shard that does not accept clients yet is served by another that does.
    static func accept(on channels: [any Channel]) async throws {
        for channel in channels { try await channel.setOption(.autoRead, value: true).get() }
    }

    private func bootstrap(tls: TLSIdentity?) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: ReadBuffers.readsAtOnce)
            .childChannelOption(.recvAllocator, value: ReadBuffers())
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try receive(channel, tls: tls) }
            }
    }

    /// Sets up an accepted connection, at the shard of its event loop or, while that one does
    /// not accept clients, at another.
    private func receive(_ channel: any Channel, tls: TLSIdentity?) throws {
        if shard(of: channel).acceptsClients.load(ordering: .acquiring) { return try configure(channel, tls: tls) }
        let open = shards.values.filter { $0.acceptsClients.load(ordering: .acquiring) }
        guard let shard = open.randomElement() else { throw ChannelError.operationUnsupported }
        try handOver(channel, to: shard, tls: tls)
        throw HandedOver()
    }

    /// The connection of a channel has become another channel's; ends the first one.
    private struct HandedOver: Error {}

    /// Continues a connection on another shard's event loop, in a new channel with a copy of the socket's descriptor.
    /// Closing the old channel closes its own descriptor only.
    private func handOver(_ channel: any Channel, to shard: GatewayShard, tls: TLSIdentity?) throws {
        let copy = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            dup($0)
        }
        guard let copy, copy >= 0 else { throw ChannelError.operationUnsupported }
        ClientBootstrap(group: shard.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: ReadBuffers.readsAtOnce)
            .channelOption(.recvAllocator, value: ReadBuffers())
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, tls: tls) }
            }
            .withConnectedSocket(copy)
            .whenFailure { logger.debug("could not hand a connection over", metadata: ["error": "\($0)"]) }
    }

    /// Sets up an accepted connection, after the PROXY header where one is expected; closes it when the shard has too
    /// many sockets.
    private func configure(_ channel: any Channel, tls: TLSIdentity?) throws {
        let shard = shard(of: channel)
        guard shard.assumeIsolated({ $0.takeSocket() }) else {
            GatewayMetrics.shared.socketsRefused.increment()
            throw ChannelError.operationUnsupported
        }
        channel.closeFuture.whenComplete { _ in shard.assumeIsolated { $0.socketClosed() } }
        if let bytes = channel.remoteAddress?.bytes, configuration.proxyNetworks.contains(where: { $0.contains(bytes) })
        {
            return try channel.pipeline.syncOperations.addHandler(
                ProxyHandler { remote in try enter(channel, remote ?? channel.remoteAddress, tls: tls) })
        }
        try enter(channel, channel.remoteAddress, tls: tls)
    }

    /// Admits the client and installs the pipeline: TLS and the opening of a WebSocket, or else HTTP.
    /// - Parameter remote: the client's address, not its proxy's.
    private func enter(_ channel: any Channel, _ remote: SocketAddress?, tls: TLSIdentity?) throws {
        guard shard(of: channel).addressLimiter.admit(channel, from: remote) else {
            throw ChannelError.operationUnsupported
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context), name: Self.tlsHandler) }
        let carry = { @Sendable (channel: any Channel) in
            try carryWebSocket(channel, isPlain: tls == nil, remote: remote)
        }
        let next = OpeningHandler.Next(
            webSocket: carry, http: { channel, time in try answerHTTP(channel, within: time, carry: carry) })
        try pipeline.addHandler(OpeningHandler(within: Self.handshakeTimeout, next: next))
    }

    /// Installs HTTP, for discovery and for handshakes that are written in rare ways.
    private func answerHTTP(
        _ channel: any Channel, within time: Duration, carry: @escaping @Sendable (any Channel) throws -> Void
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let upgrader = WebSocketUpgrader(carry: carry)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(name: Self.answering, promise: nil)
                }
            ),
            // Every outbound header is written by this process.
            withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: HTTPHeadBound.limits)
        // Also answers requests that the upgrader refused.
        let answering = HTTPResponderHandler(
            PublicResponder(discovery: discovery), persistence: .oneRequest(within: time),
            isHarmless: { $0 is WebSocketUpgrader.Refusal })
        try pipeline.addHandler(answering, name: Self.answering)
    }

    private func shard(of channel: any Channel) -> GatewayShard {
        guard let shard = shards[ObjectIdentifier(channel.eventLoop)] else {
            preconditionFailure("a connection was accepted on an event loop without a shard")
        }
        return shard
    }

    private func carryWebSocket(_ channel: any Channel, isPlain: Bool, remote: SocketAddress?) throws {
        if configuration.testEchoBytes > 0 {
            let echo = EchoConnection(bound: configuration.testEchoBytes, isPlain: isPlain)
            return try channel.pipeline.syncOperations.addHandler(echo)
        }
        try shard(of: channel).assumeIsolated { shard in
            let connection = ClientConnection(shard: shard, isPlain: isPlain, remote: remote)
            try channel.pipeline.syncOperations.addHandler(connection)
        }
    }
}
