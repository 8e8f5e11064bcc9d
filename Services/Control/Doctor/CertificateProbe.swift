internal import ClusterBus
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import RedisClient

/// Asks a server for its certificate.
enum CertificateProbe {
    enum Answer: Equatable, Sendable {
        /// When the certificate ends, in Unix seconds.
        case end(Int64)
        /// It speaks no TLS there, or cannot be reached from here.
        case none
    }

    /// How long a server may take to show its certificate.
    private static let patience = TimeAmount.seconds(2)

    static func ask(_ address: NodeAddress) async -> Answer {
        var settings = TLSConfiguration.makeClientConfiguration()
        // Nothing is verified: the expiry date is to be read even of an expired or self-signed certificate.
        settings.certificateVerification = .none
        guard let context = try? NIOSSLContext(configuration: settings) else { return .none }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let shown = loop.makePromise(of: Answer.self)
        let connected = ClientBootstrap(group: loop).connectTimeout(patience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = try NIOSSLClientHandler(context: context, serverHostname: nil)
                    try channel.pipeline.syncOperations.addHandlers([tls, Watcher(tls: tls, shown: shown)])
                }
            }
            .connect(host: address.host, port: address.port)
        connected.whenFailure { _ in shown.succeed(.none) }
        let deadline = loop.scheduleTask(in: patience) { shown.succeed(.none) }
        let answer = try? await shown.futureResult.get()
        deadline.cancel()
        connected.whenSuccess { $0.close(promise: nil) }
        return answer ?? .none
    }

    /// Looks at the certificate once the handshake is over.
    private final class Watcher: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let tls: NIOSSLClientHandler
        private let shown: EventLoopPromise<Answer>

        init(tls: NIOSSLClientHandler, shown: EventLoopPromise<Answer>) {
            self.tls = tls
            self.shown = shown
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard let event = event as? TLSUserEvent, case .handshakeCompleted = event else { return }
            shown.succeed(tls.peerCertificate.map { .end(Int64($0.notValidAfter)) } ?? .none)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            shown.succeed(.none)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { shown.succeed(.none) }
    }
}
