package import Logging
package import ServiceLifecycle
internal import UnixSignals

/// Runs a process's services until SIGTERM or SIGINT.
package enum ServiceRunner {
    /// The default time limit of a graceful shutdown, after which the remaining services are cancelled.
    package static let shutdownDeadline: Duration = .seconds(30)
    /// The time that cancelled services have to end before the process is terminated.
    static let cancellationDeadline: Duration = .seconds(5)

    /// Runs `health` and `services`: starts them in this order and shuts them down in reverse order, `health` last.
    ///
    /// At shutdown, `/readyz` answers 503 before any service is shut down. A service that throws, or returns before
    /// shutdown, ends the process.
    /// - Returns: the exit code, 0 after a graceful shutdown.
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

/// Makes `/readyz` report draining. It is started last, and so is the first to be shut down.
private struct DrainNotice: Service {
    let state: HealthState
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        state.startDraining()
        logger.info("shutting down")
    }
}
