internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import ServiceKit
internal import SignalingProtocol

/// Where clients come in: WebSocket on `/`, discovery on `/getaddr`; plain on one port, TLS on the next.
struct PublicListener: Sendable {
    /// Connections the kernel may hold for us (a reconnect storm).
    private static let backlog: Int32 = 4096
    private static let answering = "answering"

    let configuration: GatewayConfiguration
    let group: any EventLoopGroup
    /// By event loop: a connection belongs to the shard of its loop.
    let shards: [ObjectIdentifier: GatewayShard]
    let discovery: Discovery
    let logger: Logger

    /// Opens the plain port and, where a certificate is configured, the TLS port.
    /// - Returns: the listening channels, the plain one first.
    func bind() async throws -> [any Channel] {
        if configuration.testEchoBytes > 0 { logger.warning("test mode: WebSockets echo, nobody can log in") }
        let plain = try await bootstrap(tls: nil).bind(host: configuration.host, port: configuration.port).get()
        guard let files = configuration.tls, let port = plain.localAddress?.port else { return [plain] }
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChain).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
        let secure = try await bootstrap(tls: tls).bind(host: configuration.host, port: port + 1).get()
        return [plain, secure]
    }

    private func bootstrap(tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(
                .writeBufferWaterMark,
                value: .init(low: configuration.sendBufferBound / 2, high: configuration.sendBufferBound)
            )
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 512, maximum: 65_536)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, tls: tls) }
            }
    }

    private func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        let upgrader = WebSocketUpgrader { channel in try carryWebSocket(channel, isPlain: tls == nil) }
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(name: Self.answering, promise: nil)
                }
            ),
            // All headers that are sent are our own.
            withOutboundHeaderValidation: false)
        try pipeline.addHandler(PublicHTTPHandler(discovery: discovery), name: Self.answering)
    }

    private func carryWebSocket(_ channel: any Channel, isPlain: Bool) throws {
        if configuration.testEchoBytes > 0 {
            let echo = EchoConnection(bound: configuration.testEchoBytes, isPlain: isPlain)
            return try channel.pipeline.syncOperations.addHandler(echo)
        }
        guard let shard = shards[ObjectIdentifier(channel.eventLoop)] else {
            preconditionFailure("a connection was accepted on an event loop without a shard")
        }
        try channel.pipeline.syncOperations.addHandler(ClientConnection(shard: shard, isPlain: isPlain))
    }
}
