internal import Hummingbird
internal import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

internal import enum ServiceKit.EventLoopLag

/// The listener of the server API: HTTP/1.1, on a port of its own.
package struct APIService: Service {
    /// What the API needs of its gateway.
    package struct Gateway: Sendable {
        let addressKey: @Sendable (SocketAddress) -> String?
        let discovery: @Sendable (String) async -> DiscoveryAnswer
        let metrics: @Sendable () async -> String
        let shards: @Sendable () async throws -> [APIShard]

        /// - Parameters:
        ///   - addressKey: under what an address' connections are counted; nil for addresses without a bound.
        ///   - discovery: answers `/getaddr` for the playground, given the request's target.
        ///   - metrics: the metrics of this process, in Prometheus' text format.
        ///   - shards: waits until the gateway's event loops can be used, and returns them; at least one.
        package init(
            addressKey: @escaping @Sendable (SocketAddress) -> String?,
            discovery: @escaping @Sendable (String) async -> DiscoveryAnswer,
            metrics: @escaping @Sendable () async -> String,
            shards: @escaping @Sendable () async throws -> [APIShard]
        ) {
            self.addressKey = addressKey
            self.discovery = discovery
            self.metrics = metrics
            self.shards = shards
        }
    }

    private let configuration: APIConfiguration
    private let gateway: Gateway
    private let connections: APIConnections
    private let eventLoops: Int
    private let logger: Logger

    /// - Parameter eventLoops: how many event loops serve connections. They are the API's own: what a request costs
    ///   must not make those late that serve clients.
    package init(configuration: APIConfiguration, eventLoops: Int, logger: Logger, gateway: Gateway) {
        self.configuration = configuration
        self.eventLoops = eventLoops
        self.logger = logger
        self.gateway = gateway
        connections = APIConnections(
            bound: configuration.connectionBound, addressBound: configuration.addressConnectionBound,
            addressKey: gateway.addressKey)
        _ = APIMetrics.shared
    }

    /// Serves until the graceful shutdown; requests in progress are answered.
    /// - Throws: when the port cannot be used.
    package func run() async throws {
        let shards: [APIShard]
        do {
            shards = try await cancelWhenGracefulShutdown(gateway.shards)
        } catch is CancellationError {
            return
        }
        // Its own messages are about single requests, which are nobody's concern.
        var quiet = logger
        quiet.logLevel = .warning
        let api = APIResponder(
            shards: APIShards(shards), connections: connections, metrics: gateway.metrics, logger: logger)
        guard configuration.servesPages else { return try await serve(api, quiet) }
        try await serve(PageResponder(api: api, discovery: gateway.discovery), quiet)
    }

    private func serve<Responder: HTTPResponder>(_ responder: Responder, _ quiet: Logger) async throws
    where Responder.Context == APIResponder.Context {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: eventLoops)
        EventLoopLag.watch(group)
        let server = HTTPServerBuilder { [connections] responder in
            OnEventLoop(
                HTTP1Channel(
                    responder: responder,
                    configuration: .init(
                        additionalChannelHandlers: [APIConnectionHandler(connections)], idleTimeout: .seconds(60))))
        }
        let application = Application(
            responder: responder,
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { [logger] channel in
                let address = channel.localAddress.map { "\($0)" } ?? "unknown"
                logger.notice("serving the server API", metadata: ["address": "\(address)"])
            },
            eventLoopGroupProvider: .shared(group), logger: quiet)
        try await application.run()
        try await group.shutdownGracefully()
    }
}
