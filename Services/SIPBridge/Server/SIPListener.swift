internal import Logging
internal import NIOCore
internal import NIOPosix
internal import SIPBridgeLogic
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// The UDP listener for SIP.
final class SIPListener: Service {
    private let configuration: SIPBridgeConfiguration
    private let logger: Logger
    private let bound = Mutex<Int?>(nil)

    init(configuration: SIPBridgeConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// The port in use; nil while not listening.
    var port: Int? { bound.withLock { $0 } }

    func run() async throws {
        let secret = SecureRandom.hex(bytes: 16)
        let responder = SIPResponder { SIPTag.text(of: $0, secret: secret) }
        let logger = logger
        // One byte more than is allowed, so that what is too long shows.
        let allocator = FixedSizeRecvByteBufferAllocator(capacity: SIPLimits.messageBytes + 1)
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.recvAllocator, value: allocator)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SIPDatagramHandler(responder: responder, logger: logger))
                }
            }
            .bind(host: configuration.host, port: configuration.port).get()
        let port = channel.localAddress?.port
        bound.withLock { $0 = port }
        logger.info(
            "SIP listener is up", metadata: ["address": "\(configuration.host):\(port ?? 0)", "transport": "udp"])
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
        bound.withLock { $0 = nil }
    }
}
