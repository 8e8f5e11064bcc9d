package import Logging

/// Asks each server of a PostgreSQL URL how it is.
package struct PostgresInspector: Sendable {
    private let configuration: PostgresConfiguration
    private let logger: Logger
    private let now: @Sendable () -> Int64

    /// Asks the servers of `configuration`.
    /// - Parameter now: this machine's time of day in Unix milliseconds, with which the servers' is compared.
    package init(
        _ configuration: PostgresConfiguration, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.now = now
        self.configuration = configuration
        self.logger = logger
    }

    /// Asks all servers at once, in the order of the URL. One that does not answer takes a connection's time limit.
    package func servers() async -> [PostgresServerState] {
        await withTaskGroup(of: (host: Int, state: PostgresServerState).self) { group in
            for host in configuration.hosts.indices { group.addTask { (host, await state(of: host)) } }
            var found: [Int: PostgresServerState] = [:]
            for await (host, state) in group { found[host] = state }
            return configuration.hosts.indices.compactMap { found[$0] }
        }
    }

    /// Judges all servers, for `heliographctl doctor`.
    /// - Throws: ``PostgresError`` when the database of the primary lacks tables.
    package func inspect() async throws(PostgresError) -> PostgresInspection {
        let servers = await servers()
        var inspection = PostgresInspection(of: servers)
        if let primary = servers.firstIndex(where: { $0.role == .primary }) {
            try await inspectCallLog(on: primary, into: &inspection)
        }
        return inspection
    }

    // Without the role pg_monitor a user sees of others' replication only that there is one.
    private static let question = """
        SELECT pg_is_in_recovery() AS standby,
            current_setting('default_transaction_read_only')::boolean AS read_only,
            current_setting('synchronous_standby_names') AS names,
            (SELECT count(*) FROM pg_stat_replication WHERE coalesce(state, 'streaming') = 'streaming') AS followers,
            (SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum')) AS waited_for,
            CASE WHEN NOT pg_is_in_recovery() THEN
                (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint FROM pg_stat_replication)
            END AS lag,
            current_setting('server_version_num')::bigint AS release,
            (SELECT sum(numbackends) FROM pg_stat_database)::bigint AS connections,
            current_setting('max_connections')::bigint AS most_connections,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock
        """

    /// What a server has answered, and between which times.
    private struct Answer: Sendable {
        let rows: PostgresRows
        let before: Int64
        let after: Int64
    }

    private func state(of host: Int) async -> PostgresServerState {
        var state = PostgresServerState(name: configuration.name(of: host), role: .silent("no reason given"))
        do throws(PostgresError) {
            let answer = try await withPool(of: host) { pool async throws(PostgresError) in
                // The second time, the connection is open: the answer comes at once.
                _ = try await pool.query("SELECT 1", within: configuration.connectTimeout)
                let before = now()
                let rows = try await pool.query(Self.question, within: configuration.connectTimeout)
                return Answer(rows: rows, before: before, after: max(before, now()))
            }
            guard let row = answer.rows.first else { return state }
            state.release = try row.int64("release")
            state.connections = try row.int64("connections")
            state.mostConnections = try row.int64("most_connections")
            let clock = try row.int64("clock")
            state.clockLead = clock - answer.after...clock - answer.before
            state.role = try row.bool("standby") ? .standby : .primary
            state.isReadOnly = try row.bool("read_only")
            state.synchronousNames = try row.string("names")
            state.followers = Int(try row.int64("followers"))
            state.synchronousFollowers = Int(try row.int64("waited_for"))
            state.lag = try row.optionalInt64("lag") ?? 0
        } catch {
            state.role = .silent(error.message)
        }
        return state
    }

    private func inspectCallLog(
        on primary: Int, into inspection: inout PostgresInspection
    ) async throws(PostgresError) {
        let rows = try await withPool(of: primary) { pool async throws(PostgresError) in
            try await pool.query(
                """
                SELECT coalesce(max(until) <= now() + interval '4 weeks', true) AS missing,
                    (SELECT count(*) FROM (SELECT FROM calls_rest LIMIT 1000000) c) AS waiting
                FROM call_months
                """)
        }
        guard let row = rows.first else { return }
        inspection.judgeCallLog(nextMonthIsMissing: try row.bool("missing"), waiting: try row.int64("waiting"))
    }

    private func withPool<Value: Sendable>(
        of host: Int, _ body: (PostgresPool) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let pool = PostgresPool(configuration: configuration.only(host), connections: 1, logger: logger)
        let result: Result<Value, PostgresError>
        do throws(PostgresError) { result = .success(try await body(pool)) } catch { result = .failure(error) }
        await pool.close()
        return try result.get()
    }
}
