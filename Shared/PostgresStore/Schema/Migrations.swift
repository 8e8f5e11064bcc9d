internal import Pacing

/// Applies this build's migrations to a database, and checks that the build works with what is applied.
///
/// Two releases run at the same time during an upgrade, so a database may be newer than a build. Each row of
/// `schema_migrations` has `readers_from`, the lowest level of a build that works with the database after that
/// migration; the highest value counts.
package struct Migrations: Sendable {
    /// Which of the missing migrations to apply.
    package enum Scope: Sendable {
        /// Only those that add things; for use before processes of this build start.
        case expand
        /// Also those that remove things which only the previous release uses; for use after its processes have ended.
        case all
    }

    /// The key of the advisory lock: "helio" in ASCII, a number that no other program should use on the same database.
    private static let lock: Int64 = 0x68_656C_696F
    /// How long one statement of a migration may take.
    private static let timeout = Duration.seconds(600)
    /// How long a statement of a migration waits for a table's lock, and all others who need the table behind it.
    private static let lockTimeout = Duration.seconds(2)
    /// How often a migration is tried that does not get a lock, with ``lockPause`` after each.
    private static let attempts = 30
    private static let lockPause = Duration.seconds(1)

    private let pool: PostgresPool
    private let level: Int64
    private let migrations: [Migration]

    /// Works on the database of `pool`.
    /// - Parameter level: the build's level, which counts the releases that changed a format.
    package init(pool: PostgresPool, level: Int64) { self.init(pool: pool, level: level, migrations: Migration.all) }

    init(pool: PostgresPool, level: Int64, migrations: [Migration]) {
        self.pool = pool
        self.level = level
        self.migrations = migrations
    }

    /// Applies the missing migrations, each in a transaction of its own. Concurrent callers wait for each other.
    ///
    /// A lock that is not free is waited for in short spans with pauses, so that processes that use the table go on.
    /// - Returns: the names of the migrations that this call applied.
    /// - Throws: ``PostgresError/Kind/migration`` when an applied migration differs from this build's file, or
    ///   the database requires a newer build; ``PostgresError/Kind/standby``; else PostgreSQL's error, for
    ///   example SQLSTATE 55P03 when a transaction has used a table for a minute and a half. Migrations before
    ///   the one that failed stay applied.
    package func apply(_ scope: Scope = .expand) async throws(PostgresError) -> [String] {
        try await pool.withConnection { connection async throws(PostgresError) in
            let result: Result<[String], PostgresError>
            do throws(PostgresError) {
                result = .success(try await apply(scope, on: connection))
            } catch {
                result = .failure(error)
            }
            // Ends the advisory lock, and rolls back what has failed.
            await connection.disconnect()
            return try result.get()
        }
    }

    /// Checks that this build works with the database.
    /// - Returns: the names of applied migrations that belong to a newer release; this build works with them.
    /// - Throws: ``PostgresError/Kind/migration`` with advice on what to do, or ``PostgresError/Kind/standby``; else
    ///   PostgreSQL's error.
    @discardableResult
    package func check() async throws(PostgresError) -> [String] {
        let applied = try await applied()
        guard applied.lacking.isEmpty else {
            let names = applied.lacking.map(\.name).joined(separator: ", ")
            throw PostgresError(.migration, "the database lacks \(names): run `heliographctl migrate`")
        }
        return applied.ahead
    }

    /// The contract migrations that are not applied yet: their names, and the level that all running
    /// processes must have before they are.
    /// - Throws: as ``check()``.
    package func waiting() async throws(PostgresError) -> (names: [String], level: Int64) {
        let waiting = try await applied().waiting
        return (waiting.map(\.name), waiting.map(\.readersFrom).max() ?? 0)
    }

    // `to_jsonb`, because in an older database the table has no column `readers_from`.
    private static let list = """
        SELECT number, name, checksum, coalesce((to_jsonb(m) ->> 'readers_from')::bigint, 1) AS readers_from
        FROM schema_migrations m ORDER BY number
        """
    private static let isStandby = "SELECT pg_is_in_recovery() AS found"

    private func applied() async throws(PostgresError) -> AppliedMigrations {
        try Self.refuse(standby: try await pool.query(Self.isStandby))
        let exists = try await pool.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found")
        guard try exists.first?.bool("found") == true else {
            throw PostgresError(.migration, "the database has no tables yet: run `heliographctl migrate`")
        }
        return try compare(try await pool.query(Self.list))
    }

    private func apply(_ scope: Scope, on connection: PostgresConnection) async throws(PostgresError) -> [String] {
        try Self.refuse(standby: try await connection.query(Self.isStandby, []))
        try await connection.script("SET statement_timeout = 0; SET lock_timeout = 0")
        // Held until the connection ends.
        _ = try await connection.query("SELECT pg_advisory_lock($1)", [.int(Self.lock)], timeout: Self.timeout)
        let encoding = try await connection.query("SELECT current_setting('server_encoding') AS encoding", [])
        guard try encoding.first?.string("encoding") == "UTF8" else {
            throw PostgresError(.migration, "the database's encoding must be UTF8")
        }
        // The column is added separately, because tables that older builds created lack it.
        try await connection.script(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now());
            ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS readers_from bigint NOT NULL DEFAULT 1
            """)
        let applied = try compare(try await connection.query(Self.list, []))
        let missing = scope == .all ? applied.pending : applied.lacking
        for migration in missing { try await insist(on: migration, on: connection) }
        try await grantReader(on: connection)
        return missing.map(\.name)
    }

    /// Lets the read-only role, if there is one, read also what was added since; see migration 0024.
    private func grantReader(on connection: PostgresConnection) async throws(PostgresError) {
        let known = try await connection.query("SELECT to_regprocedure('grant_reader()') IS NOT NULL AS found", [])
        guard try known.first?.bool("found") == true else { return }
        _ = try await connection.query("SELECT grant_reader() AS granted", [])
    }

    /// What a superuser has to run because this database's user could not make the read-only
    /// role; nil when the role exists.
    /// - Throws: ``PostgresError``.
    package func readerAdvice() async throws(PostgresError) -> String? {
        let roles = try await pool.query("SELECT FROM pg_roles WHERE rolname = 'heliograph_reader'")
        guard roles.isEmpty else { return nil }
        return
            "there is no role heliograph_reader, which psql can be used by to look without secrets: let a superuser "
            + "run `CREATE ROLE heliograph_reader NOLOGIN`, then run `heliographctl migrate` again"
    }

    /// Applies a migration, again and again while the locks that it needs are not free.
    private func insist(on migration: Migration, on connection: PostgresConnection) async throws(PostgresError) {
        for attempt in 1... {
            do throws(PostgresError) {
                return try await apply(migration, on: connection)
            } catch {
                guard error.isLockConflict, attempt < Self.attempts else {
                    throw PostgresError(sqlState: error.code, message: "\(migration.name): \(error.message)")
                }
            }
            try await connection.script("ROLLBACK")
            _ = try? await Task.sleep(for: Self.lockPause)
        }
    }

    private func apply(_ migration: Migration, on connection: PostgresConnection) async throws(PostgresError) {
        try await connection.script("BEGIN; SET LOCAL lock_timeout = \(Self.lockTimeout.millisecondsRoundedUp)")
        try await connection.script(migration.sql, timeout: Self.timeout)
        _ = try await connection.query(
            "INSERT INTO schema_migrations (number, name, checksum, readers_from) VALUES ($1, $2, $3, $4)",
            [
                .int(migration.number), .text(migration.name), .text(migration.checksum),
                .int(migration.readersFrom),
            ])
        try await connection.script("COMMIT", timeout: Self.timeout)
    }

    private func compare(_ rows: PostgresRows) throws(PostgresError) -> AppliedMigrations {
        var applied: [AppliedMigrations.Row] = []
        for row in rows {
            applied.append(
                AppliedMigrations.Row(
                    number: try row.int64("number"), name: try row.string("name"),
                    checksum: try row.string("checksum"), readersFrom: try row.int64("readers_from")))
        }
        return try AppliedMigrations(applied, migrations: migrations, level: level)
    }

    private static func refuse(standby rows: PostgresRows) throws(PostgresError) {
        guard try rows.first?.bool("found") == true else { return }
        throw PostgresError.standby
    }
}
