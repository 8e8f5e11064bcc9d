package import PostgresStore
internal import ServiceLifecycle

/// A service's further connections to PostgreSQL, besides those that every service has. They are closed at the graceful
/// shutdown, when the commands have ended.
package struct FurtherConnections: Service {
    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Closes the connections at the shutdown.
    package func run() async throws {
        // Cancellation is a shutdown too.
        try? await gracefulShutdown()
        await pool.close()
    }
}
