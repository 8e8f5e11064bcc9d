package import Logging
package import ServiceLifecycle

/// The input from which a service builds its parts.
package struct ServiceContext: Sendable {
    /// The settings that all services share.
    package let configuration: ServiceConfiguration
    /// The process's logger, with service and instance as metadata.
    package let logger: Logger
}

/// The parts of a service, ready to run.
package struct ServiceAssembly: Sendable {
    /// The services to run, in order of start; they are shut down in reverse order.
    package var services: [any Service]
    /// The checks that `/readyz` runs.
    package var checks: [ReadinessCheck]
    /// Further routes of the health listener.
    package var routes: [HTTPRoute]
    /// Further facts shown by `/healthz`.
    package var details: @Sendable () async -> [HealthDetail]
    /// Updates the metrics that are only known when they are asked for; called for each `/metrics`.
    package var observe: @Sendable () async -> Void
    /// The time limit of a graceful shutdown, after which the remaining services are cancelled.
    package var shutdownDeadline: Duration

    package init(
        services: [any Service], checks: [ReadinessCheck] = [], routes: [HTTPRoute] = [],
        details: @escaping @Sendable () async -> [HealthDetail] = { [] },
        observe: @escaping @Sendable () async -> Void = {},
        shutdownDeadline: Duration = ServiceRunner.shutdownDeadline
    ) {
        self.services = services
        self.checks = checks
        self.routes = routes
        self.details = details
        self.observe = observe
        self.shutdownDeadline = shutdownDeadline
    }
}
