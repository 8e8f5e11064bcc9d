/// Heliograph's part of a database, for a backup and its restore: what its migrations have made in the current schema.
/// Members of extensions and other schemas are nobody's business here.
package struct DatabaseContents: Sendable {
    /// What is in the schema.
    package enum State: Equatable, Sendable {
        /// Nothing.
        case empty
        /// Heliograph's tables without apps and users.
        case unused
        /// Apps or users.
        case used
        /// Things of others, or others' views and foreign keys that need Heliograph's tables.
        case foreign([ForeignObject])
    }

    /// Something of others.
    package struct ForeignObject: Equatable, Sendable {
        /// What it is and its name, for people: `table theirs`.
        package var description: String
        /// Its name as SQL, when it is a table, view or sequence in Heliograph's schema; else nil.
        package var relation: String?
    }

    /// What a restore brings back as it was at the backup, although it may have been ended since.
    package struct Revived: Equatable, Sendable {
        /// Keys of the server API.
        package var keys: Int64
        /// Bans that have not ended.
        package var bans: Int64
        /// Accounts with revoked tokens that have not expired.
        package var revocations: Int64
        /// Events that wait for their delivery by webhook.
        package var events: Int64
    }

    /// Copies of Redis and what is counted from them, which have no meaning after a restore.
    package static let transient = [
        "presence_sessions", "channel_members", "gateway_sessions", "channel_sizes", "app_channels", "mirror_writes",
        "waiting_mail", "applied_commands",
    ]

    /// The names of everything that is Heliograph's, apart from partitions.
    package static let names = Migration.names.union([bookkeeping])

    /// The table of the migrations themselves.
    package static let bookkeeping = "schema_migrations"

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

    /// The schema in which the tables are, or would be made.
    /// - Throws: ``PostgresError``, also when there is none.
    package func schema() async throws(PostgresError) -> String {
        let rows = try await pool.query("SELECT current_schema()::text AS name")
        guard let name = try rows.first?.optionalString("name") else {
            throw PostgresError(.migration, "the database has no schema in which tables would be made (search_path)")
        }
        return name
    }

    // MARK: - Whose is what

    /// `own`: the relations that are Heliograph's, with their partitions. `$1` has the ``names``.
    private static let own = """
        here AS (
            SELECT current_schema()::regnamespace::oid AS id,
                to_regclass(format('%I.schema_migrations', current_schema())) IS NOT NULL
                AND to_regclass(format('%I.apps', current_schema())) IS NOT NULL
                AND to_regclass(format('%I.users', current_schema())) IS NOT NULL AS is_ours
        ), own AS (
            SELECT c.oid FROM pg_class c, here h
            WHERE h.is_ours AND c.relnamespace = h.id AND c.relkind IN ('r', 'p', 'v', 'S') AND c.relname::text = ANY ($1)
            UNION
            SELECT c.oid FROM own o JOIN pg_inherits i ON i.inhparent = o.oid JOIN pg_class c ON c.oid = i.inhrelid
            WHERE c.relispartition
        )
        """

    /// Things of others: those in the schema, and those elsewhere that need a table of Heliograph's.
    private static let foreign = """
        WITH RECURSIVE \(own), other AS (
            SELECT 'pg_class'::regclass::oid AS class, c.oid, format('%I.%I', current_schema(), c.relname) AS relation
            FROM pg_class c, here h
            WHERE c.relnamespace = h.id AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c') AND c.oid NOT IN (SELECT oid FROM own)
                AND NOT EXISTS (
                    SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
                        AND d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM own))
            UNION
            SELECT 'pg_proc'::regclass, p.oid, NULL FROM pg_proc p, here h
            WHERE p.pronamespace = h.id AND NOT (h.is_ours AND p.proname::text = ANY ($1))
            UNION
            SELECT 'pg_type'::regclass, t.oid, NULL FROM pg_type t, here h
            WHERE t.typnamespace = h.id AND t.typtype IN ('b', 'd', 'e', 'r') AND t.typcategory <> 'A'
                AND NOT (h.is_ours AND t.typname::text = ANY ($1))
            UNION
            SELECT 'pg_class'::regclass, r.ev_class, NULL
            FROM own o JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.oid
            JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE r.ev_class NOT IN (SELECT oid FROM own)
            UNION
            SELECT 'pg_class'::regclass, k.conrelid, NULL FROM own o JOIN pg_constraint k ON k.confrelid = o.oid
            WHERE k.contype = 'f' AND k.conrelid NOT IN (SELECT oid FROM own)
        )
        SELECT pg_describe_object(o.class, o.oid, 0) AS description, max(o.relation) AS relation FROM other o
        WHERE NOT EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype = 'e')
        GROUP BY 1 ORDER BY 1
        """

    /// Things of others that are in the schema or need Heliograph's tables.
    /// - Throws: ``PostgresError``.
    package func foreignObjects() async throws(PostgresError) -> [ForeignObject] {
        var found: [ForeignObject] = []
        for row in try await pool.query(Self.foreign, [.texts(Array(Self.names))]) {
            found.append(
                ForeignObject(
                    description: try row.string("description"), relation: try row.optionalString("relation")))
        }
        return found
    }

    /// Looks what is in the schema.
    /// - Throws: ``PostgresError``.
    package func state() async throws(PostgresError) -> State {
        let others = try await foreignObjects()
        guard others.isEmpty else { return .foreign(others) }
        let rows = try await pool.query(
            "WITH RECURSIVE \(Self.own) SELECT EXISTS (SELECT FROM own) AS ours", [.texts(Array(Self.names))])
        guard try rows.first?.bool("ours") == true else { return .empty }
        let used = try await pool.query(
            "SELECT EXISTS (SELECT FROM apps) OR EXISTS (SELECT FROM users) AS used")
        return try used.first?.bool("used") == true ? .used : .unused
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

    /// The process ids of the server's other sessions that processes of Heliograph have on this database.
    /// - Throws: ``PostgresError``.
    package func otherSessions() async throws(PostgresError) -> [Int64] {
        let rows = try await pool.query(
            """
            SELECT pid::bigint AS pid FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND application_name IN ('heliograph', current_setting('application_name')) AND application_name <> ''
            ORDER BY 1
            """)
        var found: [Int64] = []
        for row in rows { found.append(try row.int64("pid")) }
        return found
    }

    // MARK: - Restoring

    /// The statements that remove what is Heliograph's, views first. They fail, instead of removing it too,
    /// when something of others needs it.
    /// - Throws: ``PostgresError``.
    package func removal() async throws(PostgresError) -> [String] {
        let rows = try await pool.query(
            """
            WITH RECURSIVE \(Self.own), mine AS (
                SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind,
                    format('%I.%I', n.nspname, c.relname) AS name
                FROM own o JOIN pg_class c ON c.oid = o.oid JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE NOT c.relispartition
                UNION ALL
                SELECT 'ROUTINE', format('%I.%I(%s)', current_schema(), p.proname, pg_get_function_identity_arguments(p.oid))
                FROM pg_proc p, here h
                WHERE h.is_ours AND p.pronamespace = h.id AND p.proname::text = ANY ($1) AND NOT EXISTS (
                    SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
            )
            SELECT format('DROP %s %s;', kind, string_agg(name, ', ' ORDER BY name)) AS statement FROM mine
            GROUP BY kind ORDER BY array_position(ARRAY['VIEW', 'TABLE', 'ROUTINE', 'SEQUENCE'], kind)
            """, [.texts(Array(Self.names))])
        var statements: [String] = []
        for row in rows { statements.append(try row.string("statement")) }
        return statements
    }

    /// Counts what has come back.
    /// - Throws: ``PostgresError``.
    package func revived() async throws(PostgresError) -> Revived {
        let rows = try await pool.query(
            """
            SELECT (SELECT count(*) FROM api_keys) AS keys, (SELECT count(*) FROM user_bans WHERE until > now()) AS bans,
                (SELECT count(*) FROM user_bans WHERE tokens_until > now()) AS revocations,
                (SELECT count(*) FROM webhook_events) AS events
            """)
        guard let row = rows.first else { throw PostgresError(.shape, "PostgreSQL has not counted") }
        return Revived(
            keys: try row.int64("keys"), bans: try row.int64("bans"), revocations: try row.int64("revocations"),
            events: try row.int64("events"))
    }

    /// Counts anew what is kept in numbers, and makes the tables of the days and months
    /// that have begun since the backup.
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
