/// A database as a whole, for a backup and its restore.
package struct DatabaseContents: Sendable {
    /// What is in a database.
    package enum State: Equatable, Sendable {
        /// No tables.
        case empty
        /// Heliograph's tables without apps and users.
        case unused
        /// Apps or users.
        case used
        /// Tables, but not Heliograph's.
        case foreign
    }

    /// Copies of Redis and what is counted from them, which have no meaning after a restore.
    package static let transient = [
        "presence_sessions", "channel_members", "gateway_sessions", "channel_sizes", "app_channels", "mirror_writes",
        "waiting_mail", "applied_commands",
    ]

    private static let timeout = Duration.seconds(600)

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The server's major version, such as 15.
    /// - Throws: ``PostgresError``.
    package func serverVersion() async throws(PostgresError) -> Int64 {
        let rows = try await pool.query("SELECT current_setting('server_version_num')::bigint / 10000 AS version")
        return try rows.first?.int64("version") ?? 0
    }

    /// Looks what is in the database.
    /// - Throws: ``PostgresError``.
    package func state() async throws(PostgresError) -> State {
        let tables = try await pool.query(
            """
            SELECT to_regclass('schema_migrations') IS NOT NULL AND to_regclass('apps') IS NOT NULL
                AND to_regclass('users') IS NOT NULL AS ours
            FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
            LIMIT 1
            """)
        guard let found = tables.first else { return .empty }
        guard try found.bool("ours") else { return .foreign }
        let rows = try await pool.query(
            "SELECT EXISTS (SELECT FROM apps) OR EXISTS (SELECT FROM users) AS used")
        return try rows.first?.bool("used") == true ? .used : .unused
    }

    /// The last migration that is applied, and the lowest level of a build that works with the database.
    /// - Throws: ``PostgresError``.
    package func level() async throws(PostgresError) -> (migration: String, readersFrom: Int64) {
        let rows = try await pool.query(
            """
            SELECT name, max(readers_from) OVER () AS readers_from FROM schema_migrations ORDER BY number DESC LIMIT 1
            """)
        guard let row = rows.first else { throw PostgresError(.migration, "the database has no tables yet") }
        return (try row.string("name"), try row.int64("readers_from"))
    }

    /// Removes all views, tables, sequences and functions of the schema.
    /// - Throws: ``PostgresError``.
    package func removeAll() async throws(PostgresError) {
        try await script(
            """
            DO $$
            DECLARE
                v_statement text;
            BEGIN
                FOR v_statement IN
                    SELECT format('DROP %s IF EXISTS %I CASCADE',
                        CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                        c.relname)
                    FROM pg_class c
                    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
                        AND NOT c.relispartition
                    ORDER BY c.relkind = 'S'
                LOOP
                    EXECUTE v_statement;
                END LOOP;
                FOR v_statement IN
                    SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure)
                    FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f'
                LOOP
                    EXECUTE v_statement;
                END LOOP;
            END $$
            """)
    }

    /// Counts anew what is kept in numbers, and makes the tables of the days and months that have begun since the backup.
    /// - Throws: ``PostgresError``.
    package func bringUpToDate() async throws(PostgresError) {
        try await script("SELECT recount(); SELECT make_history_days('2 days'); SELECT make_call_months('1 month')")
    }

    /// Runs statements on one connection, in one transaction, without the limit of a query.
    private func script(_ sql: String) async throws(PostgresError) {
        try await pool.withConnection { connection async throws(PostgresError) in
            do throws(PostgresError) {
                try await connection.script("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '2s'")
                try await connection.script(sql, timeout: Self.timeout)
                try await connection.script("COMMIT", timeout: Self.timeout)
            } catch {
                // Disconnecting rolls the transaction back, whatever state it is in.
                await connection.disconnect()
                throw error
            }
        }
    }
}
