package import SignalingProtocol

/// A table that is divided by time and kept for some days: the call log, the audit trail, or what attributes were.
package struct History: Equatable, Sendable {
    /// `attributes`, `audit` or `calls`.
    package var name: String
    /// `day` or `month`, of UTC.
    package var dividedBy: String
    /// The days for which rows are kept. 0: no rows are written. Nil, for calls only: the setting of the invitation
    /// service counts.
    package var keptDays: Int?
    /// How many tables hold it.
    package var parts: Int
    /// Its size on the disk, with indexes.
    package var bytes: Int64
}

/// A table that holds a day or month of a history.
package struct HistoryPart: Equatable, Sendable {
    /// The history's name.
    package var history: String
    /// The table's name, such as `attribute_history_2027_01_31`.
    package var name: String
    /// All its rows are from before this time.
    package var until: RedisTime
    /// Its size on the disk, with indexes.
    package var bytes: Int64
}

/// The histories and how long they are kept: the table `retention`, the views `histories` and
/// `history_parts` (migrations 0022 and 0034).
package struct Histories: Sendable {
    /// How far ahead the tables of `attribute_history` and `audit_entries` exist.
    private static let daysAhead = 2
    /// For how long histories are kept unless somebody says otherwise.
    private static let standardDays = ["attributes": 30, "audit": 400]

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// All histories, by name.
    /// - Throws: ``PostgresError``.
    package func list() async throws(PostgresError) -> [History] {
        let rows = try await pool.query(
            "SELECT history, divided_by, kept_days, parts, bytes FROM histories ORDER BY history")
        var histories: [History] = []
        for row in rows {
            histories.append(
                History(
                    name: try row.string("history"), dividedBy: try row.string("divided_by"),
                    keptDays: try row.optionalInt64("kept_days").map { Int($0) }, parts: Int(try row.int64("parts")),
                    bytes: try row.int64("bytes")))
        }
        return histories
    }

    /// Says for how long a history is kept from now on; nothing is removed yet.
    /// - Parameter days: 0 to write no more rows; nil for the default.
    /// - Returns: false when there is no such history.
    /// - Throws: ``PostgresError``; SQLSTATE 23514 when calls or the audit trail are not to be written at all.
    package func keep(_ history: String, days: Int?) async throws(PostgresError) -> Bool {
        let days = days ?? Self.standardDays[history]
        return try await pool.query(
            "UPDATE retention SET days = $2::bigint WHERE history = $1",
            [.text(history), .optional(days.map { Int64($0) })]
        ).affected == 1
    }

    /// The days and months of which nothing is to be kept, the earliest of each history first.
    /// - Throws: ``PostgresError``.
    package func past() async throws(PostgresError) -> [HistoryPart] {
        let rows = try await pool.query(
            """
            SELECT p.history, p.name, (extract(epoch FROM p.until) * 1000)::bigint AS until, p.bytes
            FROM history_parts p JOIN retention r ON r.history = p.history
            WHERE p.until <= now() - make_interval(days => r.days)
            ORDER BY p.history, p.until
            """)
        var parts: [HistoryPart] = []
        for row in rows {
            parts.append(
                HistoryPart(
                    history: try row.string("history"), name: try row.string("name"),
                    until: RedisTime(milliseconds: try row.int64("until")), bytes: try row.int64("bytes")))
        }
        return parts
    }

    /// Removes a day or month with its rows.
    /// - Returns: false when it does not exist.
    /// - Throws: ``PostgresError``; SQLSTATE 55P03 when a transaction used the history for a
    ///   second: nothing is removed then.
    package func remove(_ part: HistoryPart) async throws(PostgresError) -> Bool {
        let function =
            switch part.history {
            case "calls": "drop_call_month"
            case "audit": "drop_audit_month"
            default: "drop_history_day"
            }
        return try await pool.query("SELECT \(function)($1) AS dropped", [.text(part.name)])
            .first?.bool("dropped") == true
    }

    /// Makes the days and months of histories that are missing, but for those of calls, and counts users who have come
    /// since the last time.
    /// - Returns: how many it made.
    /// - Throws: ``PostgresError``; SQLSTATE 55P03 when a transaction used the history for a second.
    package func makeDays() async throws(PostgresError) -> Int {
        try await pool.query("SELECT count_new_users(1)")
        let rows = try await pool.query(
            """
            SELECT make_history_days(make_interval(days => $1::bigint::integer))
                + make_audit_months(make_interval(days => $1::bigint::integer)) AS made
            """,
            [.int(Int64(Self.daysAhead))])
        return Int(try rows.first?.int64("made") ?? 0)
    }
}
