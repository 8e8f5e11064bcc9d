internal import ClusterState
internal import Glibc
internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol

/// A command's connection to PostgreSQL.
enum Database {
    static let standardURL = StoreURL.standardPostgres

    /// Calls `body` with a pool of one connection.
    /// - Parameter checked: whether to refuse a database that this build does not work with.
    static func with(checked: Bool = true, _ body: (PostgresPool) async throws -> Void) async throws {
        let pool = PostgresPool(configuration: try configuration(), connections: 1, logger: logger)
        do {
            if checked { try await Migrations(pool: pool, level: ClusterLevel.current).check() }
            try await body(pool)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }

    /// Asks each server of the URL how it is doing.
    static func inspect() async throws -> PostgresInspection {
        try await PostgresInspector(try configuration(), logger: logger) { WallClock.milliseconds }.inspect()
    }

    /// Where PostgreSQL is.
    static func configuration() throws -> PostgresConfiguration {
        // The environment may contain settings of the services, so unknown names are not an error here.
        var reader = EnvironmentReader.process()
        let url = StoreURL.postgres(reading: &reader)
        _ = try reader.finish()
        var configuration = try PostgresConfiguration(url: url)
        configuration.cause = .control(user: systemUser)
        return configuration
    }

    /// The user of the operating system who runs the command; the number, where it has no name.
    private static var systemUser: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return String(getuid()) }
        return String(cString: name)
    }

    /// Notes an act in the audit trail that changes nothing in PostgreSQL.
    static func note(_ act: AuditedAct, to user: UserKey) async throws {
        try await with { pool in try await AuditStore(pool: pool).note(act, to: user) }
    }

    /// The same of what is done to a process.
    static func note(_ act: AuditedAct, toProcess process: String) async throws {
        try await with { pool in try await AuditStore(pool: pool).note(act, toProcess: process) }
    }

    private static var logger: Logger { Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() } }
}
