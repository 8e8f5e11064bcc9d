package import Logging
package import ServiceLifecycle

/// What a service builds its parts from.
package struct ServiceContext: Sendable {
    /// The settings that every service has.
    package let configuration: ServiceConfiguration
    /// The process's logger, with service and instance as metadata.
    package let logger: Logger
    /// The process's metrics, already installed for swift-metrics.
    package let metrics: PrometheusRegistry
}

/// A service's parts, ready to run.
package struct ServiceAssembly: Sendable {
    /// What runs, in order of start; shut down in reverse order.
    package var services: [any Service]
    /// What `/readyz` asks.
    package var checks: [ReadinessCheck]
    /// Further paths of the health listener.
    package var routes: [HTTPRoute]
    /// Facts for `/healthz`.
    package var details: @Sendable () async -> [HealthDetail]
    /// How long the graceful shutdown may take before what is left is cancelled.
    package var shutdownDeadline: Duration

    /// Lists the parts.
    package init(
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
