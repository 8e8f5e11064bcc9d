internal import ClusterState
internal import MessageStore
internal import PostgresStore
internal import RedisStore
package import ServiceKit
internal import ServiceLifecycle
internal import ServiceStores
internal import SignalingProtocol

/// The SIP bridge's parts.
///
/// Any number of bridges share the outbound calls; each holds the telephones of its own calls, and its end ends them.
package enum SIPBridge {
    /// Builds them; nothing is bound yet.
    /// - Throws: as `ServiceStores` does; `SIPError` when libre's thread cannot be started.
    package static func assemble(
        _ context: ServiceContext, _ configuration: SIPBridgeConfiguration
    ) async throws -> ServiceAssembly {
        let stores = try await ServiceStores(
            context, libraries: [.leases, .streams], postgresConnections: 2)
        let logger = context.logger
        // A fresh id for each run: what a bridge holds ends with its process.
        let instance = context.configuration.instance
        let bridge = GatewayID("\(instance.filter { $0.isLetter || $0.isNumber })-\(SecureRandom.hex(bytes: 4))")
        let port = InvitationPort(
            bridge: bridge, configuration: stores.redisConfiguration, connection: stores.redis, logger: logger)
        try SIPThread.start()
        let exchange = await PhoneExchange(
            bridge: bridge, configuration: configuration, port: port, pool: stores.pool, logger: logger)
        let orders = CommandConsumer(
            bridge: bridge, configuration: stores.redisConfiguration, connection: stores.redis,
            router: orderRouter(exchange), logger: logger)
        let dials = CommandConsumer(
            service: .sipBridge, instance: bridge.rawValue, configuration: stores.redisConfiguration,
            connection: stores.redis, router: dialRouter(exchange), logger: logger)
        let service = SIPBridgeService(
            bridge: bridge, configuration: configuration, exchange: exchange, port: port, orders: orders,
            leases: GatewayLeases(connection: stores.redis, fleet: .bridges), logger: logger)
        // Shut down from the end: no new calls, then the drain, during which orders still come.
        return ServiceAssembly(
            services: [stores, orders, service, DialService(exchange: exchange, commands: dials)],
            checks: stores.checks + [
                ReadinessCheck(name: "sip") { service.sipPort == nil ? "not listening" : nil },
                ReadinessCheck(name: "invitation") { service.isConnected ? nil : "no answers can come" },
            ],
            details: {
                service.sipPort.map {
                    [
                        HealthDetail("sipHost", configuration.host), HealthDetail("sipPort", $0),
                        HealthDetail("bridge", bridge.rawValue),
                    ]
                } ?? []
            },
            shutdownDeadline: max(ServiceRunner.shutdownDeadline, configuration.drainTime + .seconds(15)))
    }

    private static func orderRouter(_ exchange: PhoneExchange) -> CommandRouter {
        var router = CommandRouter()
        router.on(OrderPhone.self) { command, _ throws(SignalingError) in
            await exchange.order(command)
            return Done()
        }
        return router
    }

    private static func dialRouter(_ exchange: PhoneExchange) -> CommandRouter {
        var router = CommandRouter()
        router.on(DialPhone.self) { command, _ throws(SignalingError) in
            await exchange.dial(command)
            return Done()
        }
        return router
    }
}

/// Takes outbound calls once SIP is up.
private struct DialService: Service {
    let exchange: PhoneExchange
    let commands: CommandConsumer

    func run() async throws {
        while await !exchange.isOpen {
            if Task.isShuttingDownGracefully { return try await gracefulShutdown() }
            try await Task.sleep(for: .milliseconds(20))
        }
        try await commands.run()
    }
}
