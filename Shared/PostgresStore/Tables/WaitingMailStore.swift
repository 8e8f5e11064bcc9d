/// The table `waiting_mail`: for operators, how many messages waited in Redis at the last count.
package struct WaitingMailStore: Sendable {
    private static let timeout = Duration.seconds(60)

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Puts a count in place of the last one, in one statement.
    /// - Throws: ``PostgresError``.
    package func replace(_ users: [(app: String, account: String, messages: Int64)]) async throws(PostgresError) {
        try await pool.query(
            """
            WITH counted AS (
                SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS i(app, account, messages)
            ), gone AS (
                DELETE FROM waiting_mail w WHERE NOT EXISTS (
                    SELECT FROM counted c WHERE c.app = w.app AND c.account = w.account)
            )
            INSERT INTO waiting_mail (app, account, messages) SELECT app, account, messages FROM counted
            ON CONFLICT (app, account) DO UPDATE SET messages = EXCLUDED.messages, counted_at = now()
            """,
            [.texts(users.map(\.app)), .texts(users.map(\.account)), .ints(users.map(\.messages))], within: Self.timeout
        )
    }
}
