/// Applies this build's migrations to a database, and checks that they are applied.
package struct Migrations: Sendable {
    /// The key of the advisory lock ("helio"): any number that no other program uses on the same database.
    private static let lock: Int64 = 0x68_656C_696F
    /// How long one statement of a migration may take.
    private static let timeout = Duration.seconds(600)

    private let pool: PostgresPool
    private let migrations: [Migration]

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.init(pool: pool, migrations: Migration.all) }

    init(pool: PostgresPool, migrations: [Migration]) {
        self.pool = pool
        self.migrations = migrations
    }

    /// Applies the missing migrations in one transaction: all or nothing. Concurrent callers wait for each other.
    /// - Returns: the names of the migrations that this call applied.
    /// - Throws: ``PostgresError/Kind/migration`` when an applied migration differs from this build's file, or a newer build
    ///   has migrated the database; else PostgreSQL's error.
    package func apply() async throws(PostgresError) -> [String] {
        try await pool.withConnection { connection async throws(PostgresError) in
            do throws(PostgresError) {
                return try await apply(on: connection)
            } catch {
                // Disconnecting rolls the transaction back, whatever state it is in.
                await connection.disconnect()
                throw error
            }
        }
    }

    /// Checks that exactly this build's migrations are applied.
    /// - Throws: ``PostgresError/Kind/migration`` with advice on what to do; else PostgreSQL's error.
    package func check() async throws(PostgresError) {
        let exists = try await pool.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found")
        guard try exists.first?.bool("found") == true else {
            throw PostgresError(.migration, "the database has no tables yet: run `heliographctl migrate`")
        }
        let missing = try missing(applied: try await pool.query(Self.list))
        guard missing.isEmpty else {
            let names = missing.map(\.name).joined(separator: ", ")
            throw PostgresError(.migration, "the database lacks \(names): run `heliographctl migrate`")
        }
    }

    private static let list = "SELECT number, name, checksum FROM schema_migrations ORDER BY number"

    private func apply(on connection: PostgresConnection) async throws(PostgresError) -> [String] {
        try await connection.script("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        _ = try await connection.query(
            "SELECT pg_advisory_xact_lock($1)", [.int(Self.lock)], timeout: Self.timeout)
        let encoding = try await connection.query("SELECT current_setting('server_encoding') AS encoding", [])
        guard try encoding.first?.string("encoding") == "UTF8" else {
            throw PostgresError(.migration, "the database's encoding must be UTF8")
        }
        try await connection.script(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now())
            """)
        let missing = try missing(applied: try await connection.query(Self.list, []))
        for migration in missing {
            do throws(PostgresError) {
                try await connection.script(migration.sql, timeout: Self.timeout)
            } catch {
                throw PostgresError(sqlState: error.code, message: "\(migration.name): \(error.message)")
            }
            _ = try await connection.query(
                "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)",
                [.int(migration.number), .text(migration.name), .text(migration.checksum)])
        }
        try await connection.script("COMMIT", timeout: Self.timeout)
        return missing.map(\.name)
    }

    /// Checks the applied migrations against this build's, and returns those still to be applied.
    private func missing(applied: PostgresRows) throws(PostgresError) -> [Migration] {
        for (index, row) in applied.enumerated() {
            let name = try row.string("name")
            guard index < migrations.count else {
                throw PostgresError(.migration, "the database has \(name), which this build does not know: it is newer")
            }
            let expected = migrations[index]
            guard try row.int64("number") == expected.number, name == expected.name,
                try row.string("checksum") == expected.checksum
            else {
                throw PostgresError(.migration, "\(expected.name) differs from what was applied to the database")
            }
        }
        return Array(migrations.dropFirst(applied.count))
    }
}
