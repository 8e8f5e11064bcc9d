package import Logging
package import NIOCore
internal import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// The listener for `/healthz` (alive), `/readyz` (dependencies answer), `/metrics` (Prometheus text) and a service's
/// further routes.
package struct HealthServer: Service {
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPPart<HTTPResponseHead, ByteBuffer>>

    /// Connections at one time; further ones are closed at once.
    static let connectionBound = 256
    /// A connection that says nothing for this long is closed.
    static let idleTimeout: TimeAmount = .seconds(30)

    private let host: String
    private let port: Int
    private let responder: HealthResponder
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void
    let state = HealthState()

    /// Creates the listener; it binds when run.
    /// - Parameters:
    ///   - checks: what `/readyz` asks; it answers 503 and names what fails.
    ///   - routes: further paths.
    ///   - details: facts that `/healthz` shows besides the service and the instance.
    ///   - onListening: told the port, once.
    package init(
        configuration: ServiceConfiguration, metrics: PrometheusRegistry, checks: [ReadinessCheck] = [],
        routes: [HTTPRoute] = [], details: @escaping @Sendable () async -> [HealthDetail] = { [] }, logger: Logger,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        host = configuration.httpHost
        port = configuration.httpPort
        responder = HealthResponder(
            service: configuration.service, instance: configuration.instance, state: state, checks: checks,
            routes: Dictionary(routes.map { ($0.path, $0) }) { first, _ in first }, details: details, metrics: metrics)
        self.group = group
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until graceful shutdown or cancellation; throws when the address can't be bound.
    package func run() async throws {
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.idleTimeout))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTPConnectionGuard())
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        let bound = listener.channel.localAddress?.port ?? port
        logger.info("health listener is up", metadata: ["address": "\(host):\(bound)"])
        onListening(bound)
        do {
            try await cancelWhenGracefulShutdown { try await accept(listener) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // That is how this listener ends: it is the last to go, and cuts off who still asks.
        }
    }

    private func accept(
        _ listener: NIOAsyncChannel<Connection, Never>
    ) async throws {
        try await withThrowingDiscardingTaskGroup { tasks in
            let places = ConnectionPlaces(Self.connectionBound)
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    guard places.take() else {
                        connection.channel.close(promise: nil)
                        continue
                    }
                    tasks.addTask {
                        await serve(connection)
                        places.leave()
                    }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                var head: HTTPRequestHead?
                for try await part in inbound {
                    switch part {
                    case .head(let received): head = received
                    case .body: break
                    case .end:
                        guard let request = head else { return }
                        head = nil
                        try await outbound.write(contentsOf: await parts(answering: request))
                        if !request.isKeepAlive { return }
                    }
                }
            }
        } catch {
            // A peer that broke off, or shutdown: neither is of interest to anyone else.
            logger.trace("health connection ended", metadata: ["error": "\(error)"])
        }
    }

    private func parts(answering request: HTTPRequestHead) async -> [HTTPPart<HTTPResponseHead, ByteBuffer>] {
        let answer: HTTPAnswer
        switch request.method {
        case .GET, .HEAD:
            answer = await responder.answer(HTTPQuery(target: request.uri, host: request.headers.first(name: "host")))
        default: answer = .json(status: 405, #"{"error":"only GET and HEAD"}"#, headers: [.init("Allow", "GET, HEAD")])
        }
        var headers = HTTPHeaders()
        for header in answer.headers { headers.add(name: header.name, value: header.value) }
        headers.replaceOrAdd(name: "Content-Type", value: answer.contentType)
        headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
        headers.replaceOrAdd(name: "Connection", value: request.isKeepAlive ? "keep-alive" : "close")
        let head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        if request.method == .HEAD || answer.body.isEmpty { return [.head(head), .end(nil)] }
        return [.head(head), .body(ByteBuffer(bytes: answer.body)), .end(nil)]
    }
}
