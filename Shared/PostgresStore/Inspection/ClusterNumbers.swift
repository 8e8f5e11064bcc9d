/// What PostgreSQL knows of the whole cluster in numbers, for `heliographctl top`.
package struct ClusterNumbers: Equatable, Sendable {
    package var sessions: Int64 = 0
    package var channels: Int64 = 0
    package var members: Int64 = 0
    /// Calls in progress.
    package var calls: Int64 = 0
    /// Calls that began within the last minute.
    package var newCalls: Int64 = 0
    /// Connections to all databases of the server, and how many there may be.
    package var connections: Int64 = 0
    package var mostConnections: Int64 = 0
    /// The sessions of each gateway, by its id.
    package var gateways: [String: Int64] = [:]

    /// Asks for the numbers that are counted as rows are written, and for calls by their indexes.
    /// - Throws: ``PostgresError``.
    package static func read(from pool: PostgresPool) async throws(PostgresError) -> ClusterNumbers {
        var numbers = ClusterNumbers()
        let rows = try await pool.query(
            """
            SELECT (SELECT coalesce(sum(c.channels), 0)::bigint FROM app_channels c) AS channels,
                (SELECT coalesce(sum(c.members), 0)::bigint FROM app_channels c) AS members,
                (SELECT count(*) FROM call_log l WHERE l.ended_at IS NULL) AS calls,
                (SELECT count(*) FROM call_log l WHERE l.started_at > now() - interval '1 minute') AS new_calls,
                (SELECT sum(d.numbackends)::bigint FROM pg_stat_database d) AS connections,
                current_setting('max_connections')::bigint AS most_connections
            """)
        if let row = rows.first {
            numbers.channels = try row.int64("channels")
            numbers.members = try row.int64("members")
            numbers.calls = try row.int64("calls")
            numbers.newCalls = try row.int64("new_calls")
            numbers.connections = try row.int64("connections")
            numbers.mostConnections = try row.int64("most_connections")
        }
        for row in try await pool.query(
            "SELECT gateway, sum(sessions)::bigint AS sessions FROM gateway_usage GROUP BY gateway")
        {
            numbers.gateways[try row.string("gateway")] = try row.int64("sessions")
        }
        numbers.sessions = numbers.gateways.values.reduce(0, +)
        return numbers
    }
}
