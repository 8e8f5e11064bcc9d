package import SignalingProtocol

/// A table that holds a part of the call log: a month, or `calls_before` with all that was before the first month.
package struct CallMonth: Equatable, Sendable {
    /// The table's name, such as `calls_2027_01`.
    package var name: String
    /// When its earliest call can have begun, 00:00 UTC of the month's first day; nil for `calls_before`.
    package var since: RedisTime?
    /// All its calls began before this time.
    package var until: RedisTime
    /// Its size on the disk, with indexes.
    package var bytes: Int64
}

/// The months into which the table `calls` is divided: the view `call_months` and its functions (migration 0016).
///
/// Calls for which there is no month are in `calls_rest`, which is never removed.
package struct CallMonths: Sendable {
    /// How long making a month may take, because the calls of a month that nobody made in time are moved.
    private static let timeout = Duration.seconds(600)

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The months, the earliest first.
    /// - Parameter days: only those all of whose calls began more than this many days ago; nil, the default, for all.
    /// - Throws: ``PostgresError``.
    package func list(olderThanDays days: Int? = nil) async throws(PostgresError) -> [CallMonth] {
        let rows = try await pool.query(
            """
            SELECT name, (extract(epoch FROM since) * 1000)::bigint AS since,
                (extract(epoch FROM until) * 1000)::bigint AS until, bytes
            FROM call_months m
            WHERE m.until IS NOT NULL
                AND ($1::bigint IS NULL OR m.until <= now() - make_interval(days => $1::bigint::integer))
            ORDER BY m.until
            """, [.optional(days.map { Int64($0) })])
        var months: [CallMonth] = []
        for row in rows {
            months.append(
                CallMonth(
                    name: try row.string("name"),
                    since: try row.optionalInt64("since").map { RedisTime(milliseconds: $0) },
                    until: RedisTime(milliseconds: try row.int64("until")), bytes: try row.int64("bytes")))
        }
        return months
    }

    /// Makes the months that are missing. Where there is none to make, it locks nothing.
    /// - Parameter months: how many months ahead a month must exist; default 1, so that the next month always does.
    /// - Returns: how many it made.
    /// - Throws: ``PostgresError``; SQLSTATE 42501 when the database's user does not own the table `calls`, 55P03 when
    ///   a transaction used `calls_rest` for a second.
    package func make(ahead months: Int = 1) async throws(PostgresError) -> Int {
        try await pool.withConnection { connection async throws(PostgresError) in
            do throws(PostgresError) {
                try await connection.script("BEGIN; SET LOCAL statement_timeout = 0")
                let rows = try await connection.query(
                    "SELECT make_call_months(make_interval(months => $1::bigint::integer)) AS made",
                    [.int(Int64(months))], timeout: Self.timeout)
                try await connection.script("COMMIT")
                return Int(try rows.first?.int64("made") ?? 0)
            } catch {
                // Disconnecting rolls the transaction back, whatever state it is in.
                await connection.disconnect()
                throw error
            }
        }
    }

    /// Removes a month with its calls.
    /// - Returns: false when there is no such month.
    /// - Throws: ``PostgresError``; SQLSTATE 55P03 when a transaction used `calls` for a
    ///   second: nothing is removed then.
    package func remove(_ month: CallMonth) async throws(PostgresError) -> Bool {
        try await pool.query("SELECT drop_call_month($1) AS dropped", [.text(month.name)])
            .first?.bool("dropped") == true
    }
}
