package import Logging
package import ServiceLifecycle
internal import UnixSignals

/// Runs a process's services until SIGTERM or SIGINT.
package enum ServiceRunner {
    /// How long graceful shutdown may take before what is left is cancelled, unless a service says otherwise.
    package static let shutdownDeadline: Duration = .seconds(30)
    /// How long cancelled services may take to end before the process is ended for them.
    static let cancellationDeadline: Duration = .seconds(5)

    /// Runs `health` and `services`, started in order and shut down in reverse order, `health` last.
    ///
    /// The first thing that happens at shutdown is that `/readyz` answers 503. A service that returns before that, or
    /// throws, ends the process.
    /// - Returns: the exit code, 0 after a graceful end.
    package static func run(
        health: HealthServer, services: [any Service], deadline: Duration = shutdownDeadline, logger: Logger
    ) async -> Int32 {
        var group = ServiceGroupConfiguration(
            services: [health] + services + [DrainNotice(state: health.state, logger: logger)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = deadline
        group.maximumCancellationDuration = cancellationDeadline
        do {
            try await ServiceGroup(configuration: group).run()
            logger.info("stopped")
            return 0
        } catch {
            logger.critical("stopped by an error", metadata: ["error": "\(error)"])
            return 1
        }
    }
}

/// Started last, so it is the first to learn of the shutdown.
private struct DrainNotice: Service {
    let state: HealthState
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        state.startDraining()
        logger.info("shutting down")
    }
}
