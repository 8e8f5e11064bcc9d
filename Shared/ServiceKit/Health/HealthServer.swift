package import Logging
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle

/// The listener for `/healthz` (alive), `/readyz` (dependencies answer), `/metrics` (Prometheus text) and a service's
/// further routes.
package struct HealthServer: Service {
    /// The largest number of open connections; further ones are closed at once.
    static let connectionBound = 256
    /// How long a connection may be idle before it is closed.
    static let idleTimeout: Duration = .seconds(30)

    private let host: String
    private let port: Int
    private let responder: HealthResponder
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void

    /// Creates the listener; it binds when run.
    /// - Parameters:
    ///   - configuration: the address and port.
    ///   - responder: answers the requests.
    ///   - onListening: called once, with the port.
    package init(
        configuration: ServiceConfiguration, responder: HealthResponder, logger: Logger,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        host = configuration.httpHost
        port = configuration.httpPort
        self.responder = responder
        self.group = group
        self.logger = logger
        self.onListening = onListening
    }

    /// Whether the process is draining.
    var state: HealthState { responder.state }

    /// Serves requests until graceful shutdown or cancellation. Throws when the address cannot be bound.
    package func run() async throws {
        let connections = HTTPConnections(bound: Self.connectionBound)
        let listener = try await bootstrap(connections).bind(host: host, port: port).get()
        let bound = listener.localAddress?.port ?? port
        logger.info("health listener is up", metadata: ["address": "\(host):\(bound)"])
        onListening(bound)
        // This listener is the last service to end, so it closes connections that are still open.
        defer { connections.closeAll() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await listener.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            listener.close(promise: nil)
        }
        try Task.checkCancellation()
    }

    private func bootstrap(_ connections: HTTPConnections) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.admit(channel) else { throw ChannelError.operationUnsupported }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: TimeAmount(Self.idleTimeout)))
                    try pipeline.configureHTTPServerPipeline(
                        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: HTTPHeadBound.limits)
                    try pipeline.addHandler(HTTPResponderHandler(responder, persistence: .asRequested))
                }
            }
    }
}
