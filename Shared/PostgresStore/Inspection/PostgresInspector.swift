package import Logging

/// Asks each server of a PostgreSQL URL, for `heliographctl doctor`.
package struct PostgresInspector: Sendable {
    private let configuration: PostgresConfiguration
    private let logger: Logger

    /// Asks the servers of `configuration`.
    package init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Asks all servers, one after the other: one that does not answer takes a connection's time limit.
    /// - Throws: ``PostgresError`` when the database of the primary lacks tables.
    package func inspect() async throws(PostgresError) -> PostgresInspection {
        var servers: [PostgresServerState] = []
        for host in configuration.hosts.indices { servers.append(await state(of: host)) }
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
            END AS lag
        """

    private func state(of host: Int) async -> PostgresServerState {
        var state = PostgresServerState(name: configuration.name(of: host), role: .silent("no reason given"))
        do throws(PostgresError) {
            let rows = try await withPool(of: host) { pool async throws(PostgresError) in
                try await pool.query(Self.question, within: configuration.connectTimeout)
            }
            guard let row = rows.first else { return state }
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
