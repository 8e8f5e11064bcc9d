public import Logging
public import ServiceLifecycle

/// What a service builds its parts from.
public struct ServiceContext: Sendable {
    /// The settings that every service has.
    public let configuration: ServiceConfiguration
    /// The process's logger, with service and instance as metadata.
    public let logger: Logger
    /// The process's metrics, already installed for swift-metrics.
    public let metrics: PrometheusRegistry
}

/// A service's parts, ready to run.
public struct ServiceAssembly: Sendable {
    /// What runs, in order of start; shut down in reverse order.
    public var services: [any Service]
    /// What `/readyz` asks.
    public var checks: [ReadinessCheck]
    /// Further paths of the health listener.
    public var routes: [HTTPRoute]
    /// Facts for `/healthz`.
    public var details: @Sendable () async -> [HealthDetail]
    /// How long the graceful shutdown may take before what is left is cancelled.
    public var shutdownDeadline: Duration

    /// Lists the parts.
    public init(
        services: [any Service], checks: [ReadinessCheck] = [], routes: [HTTPRoute] = [],
        details: @escaping @Sendable () async -> [HealthDetail] = { [] },
        shutdownDeadline: Duration = ServiceRunner.shutdownDeadline
    ) {
        self.services = services
        self.checks = checks
        self.routes = routes
        self.details = details
        self.shutdownDeadline = shutdownDeadline
    }
}
