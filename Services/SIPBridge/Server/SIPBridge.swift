internal import BusProtocol
internal import ClusterBus
package import ClusterService
package import ClusterState
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import ServiceLifecycle
package import SignalingProtocol

/// The sip-bridge: connects telephones, through the apps' trunks, to the invitation service.
///
/// All bridges share the outbound calls. Each holds the SIP dialogs and media of its own calls, which end with its
/// process.
package struct SIPBridge: ServiceDeclaration {
    package static let name = ServiceName.sipBridge
    package static let libraries: [RedisFunctionLibrary] = [.leases]
    package let postgresConnections = 2

    private let configuration: SIPBridgeConfiguration

    /// Creates the bridge with its settings.
    package init(_ configuration: SIPBridgeConfiguration) { self.configuration = configuration }

    /// Creates the bridge's parts; nothing is bound yet.
    /// - Throws: `SIPError` when libre's thread cannot be started.
    package func parts(on resources: ServiceResources<Never>) async throws -> ServiceParts<Never> {
        // Declares everything that the service counts.
        _ = PhoneMetrics.shared
        let (redis, logger) = (resources.redis, resources.logger)
        // A new id for each run, because calls do not outlive their process.
        let instance = resources.instance.filter { $0.isLetter || $0.isNumber }
        let bridge = BridgeID("\(instance)-\(SecureRandom.hex(bytes: 4))")
        let invitation = InvitationClient(bridge: bridge, connection: redis, logger: logger)
        try SIPThread.start()
        let calls = await PhoneCalls(
            bridge: bridge, configuration: configuration, invitation: invitation, pool: resources.pool,
            logger: logger)
        let orders = CommandConsumer(
            bridge: bridge, connection: redis, router: Self.orderRouter(calls), logger: logger)
        let lease = BridgeLease(
            bridge: bridge, leases: BridgeLeases(connection: redis), orders: orders, calls: calls,
            logger: logger)
        let service = SIPBridgeService(
            configuration: configuration, calls: calls, invitation: invitation, lease: lease, logger: logger)
        // Shut down in reverse order: first no new calls are dialled, then calls end, while their orders still arrive.
        var parts = ServiceParts<Never>(commands: Self.dialRouter(calls))
        parts.consumer = bridge.rawValue
        parts.readyForCommands = { try await Self.untilOpen(calls) }
        parts.background = [orders, service]
        parts.checks = [
            ReadinessCheck(name: "sip") { service.sipPort == nil ? "not listening" : nil },
            ReadinessCheck(name: "invitation") { service.isConnected ? nil : "no answers can come" },
        ]
        parts.details = { [host = configuration.host] in Self.details(bridge, host: host, port: service.sipPort) }
        parts.shutdownDeadline = max(ServiceRunner.shutdownDeadline, configuration.drainTime + .seconds(15))
        return parts
    }

    /// The facts that `/healthz` shows: the bridge's id, and its SIP address once it is open.
    private static func details(_ bridge: BridgeID, host: String, port: Int?) -> [HealthDetail] {
        guard let port else { return [] }
        return [HealthDetail("sipHost", host), HealthDetail("sipPort", port), HealthDetail("bridge", bridge.rawValue)]
    }

    /// Waits until SIP is open; outbound calls are accepted only then.
    private static func untilOpen(_ calls: PhoneCalls) async throws {
        while await !calls.isOpen, !Task.isShuttingDownGracefully {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func orderRouter(_ calls: PhoneCalls) -> CommandRouter {
        var router = CommandRouter()
        router.on(OrderPhone.self) { command, context throws(SignalingError) in
            await calls.order(command, context)
            return Done()
        }
        return router
    }

    private static func dialRouter(_ calls: PhoneCalls) -> CommandRouter {
        var router = CommandRouter()
        router.on(DialPhone.self) { command, context throws(SignalingError) in
            await calls.dial(command, context)
            return Done()
        }
        return router
    }
}
