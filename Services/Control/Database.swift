internal import ClusterState
internal import Logging
internal import PostgresStore
internal import ServiceKit

/// A command's connection to PostgreSQL.
enum Database {
    static let standardURL = "postgresql://heliograph@127.0.0.1:5432/heliograph"

    /// Calls `body` with a pool of one connection.
    /// - Parameter checked: whether to refuse a database that this build does not work with.
    static func with(checked: Bool = true, _ body: (PostgresPool) async throws -> Void) async throws {
        // The environment may contain settings of the services, so unknown names are not an error here.
        var reader = EnvironmentReader.process()
        let url = reader.string("POSTGRES_URL", default: standardURL, "where PostgreSQL is")
        let configuration = try PostgresConfiguration(url: url)
        let logger = Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() }
        let pool = PostgresPool(configuration: configuration, connections: 1, logger: logger)
        do {
            if checked { try await Migrations(pool: pool, level: ClusterLevel.current).check() }
            try await body(pool)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }
}
