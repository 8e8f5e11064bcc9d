package import BusProtocol
package import SignalingProtocol

/// What apps use by day: the tables `gateway_days` and `app_days`. Every method throws ``PostgresError``.
package struct UsageStore: Sendable {
    /// For how many days before today gateways' reports are taken. Older ones are summed up in `app_days`, where a
    /// gateway's part cannot be told from the others' any more.
    private static let openDays: Int64 = 1

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Writes down what was used at a gateway since its start. Numbers below those that are known change nothing;
    /// records of apps that do not exist, and of days before yesterday, are left out.
    package func record(_ uses: [AppUse], at gateway: GatewayID) async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO gateway_days AS g (app, day, gateway, messages, deliveries)
            SELECT u.app, date '1970-01-01' + u.day::integer, $2, max(u.messages), max(u.deliveries)
            FROM unnest($1::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS u(app, day, messages, deliveries)
            WHERE EXISTS (SELECT FROM apps a WHERE a.id = u.app COLLATE "C")
                AND u.day BETWEEN \(Self.today) - $6::bigint AND \(Self.today) + 1
            GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (app, day, gateway) DO UPDATE SET messages = greatest(g.messages, EXCLUDED.messages),
                deliveries = greatest(g.deliveries, EXCLUDED.deliveries)
            """,
            [
                .texts(uses.map(\.app.rawValue)), .text(gateway.rawValue), .ints(uses.map(\.day)),
                .ints(uses.map(\.messages)), .ints(uses.map(\.deliveries)), .int(Self.openDays),
            ], within: pool.configuration.changeTimeout)
    }

    /// Days since 1970-01-01 (UTC).
    private static let today = "floor(extract(epoch FROM now()) / 86400)::bigint"

    /// Notes how many users have a session, where that is the most of today.
    package func notePeaks() async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO app_days AS d (app, day, peak_users)
            SELECT s.app, (now() AT TIME ZONE 'UTC')::date, sum(s.sessions) FROM gateway_sessions s
            WHERE EXISTS (SELECT FROM apps a WHERE a.id = s.app)
            GROUP BY 1 ORDER BY 1
            ON CONFLICT (app, day) DO UPDATE SET peak_users = EXCLUDED.peak_users
            WHERE d.peak_users < EXCLUDED.peak_users
            """)
    }

    /// Adds up what gateways have reported of days that are over.
    package func sumUp() async throws(PostgresError) {
        try await pool.query(
            """
            WITH over AS (
                DELETE FROM gateway_days g WHERE g.day < (now() AT TIME ZONE 'UTC')::date - $1::bigint::integer
                RETURNING g.app, g.day, g.messages, g.deliveries
            )
            INSERT INTO app_days AS d (app, day, messages, deliveries)
            SELECT o.app, o.day, sum(o.messages), sum(o.deliveries) FROM over o GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (app, day) DO UPDATE SET messages = d.messages + EXCLUDED.messages,
                deliveries = d.deliveries + EXCLUDED.deliveries
            """, [.int(Self.openDays)])
    }
}
