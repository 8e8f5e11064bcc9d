package import SignalingProtocol

/// A phone number whose incoming calls go to a user of an app.
package struct SIPNumber: Equatable, Sendable {
    /// The called number as the trunk writes it in its SIP request, with or without `+`.
    package var number: String
    /// The user whose calls these are.
    package var user: UserKey
    /// When the number was first assigned, in Unix milliseconds; reassigning it does not change this.
    package var createdAt: Int64

    package init(number: String, user: UserKey, createdAt: Int64) {
        self.number = number
        self.user = user
        self.createdAt = createdAt
    }
}

/// The table `sip_numbers`. Every method throws ``PostgresError``.
package struct NumberStore: Sendable {
    private static let columns =
        "number, app, account, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms"

    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// The number's record; nil when it is assigned to nobody.
    package func find(_ number: String) async throws(PostgresError) -> SIPNumber? {
        let rows = try await pool.query(
            "SELECT \(Self.columns) FROM sip_numbers WHERE number = $1", [.text(number)],
            within: pool.configuration.actTimeout)
        guard let row = rows.first else { return nil }
        return try SIPNumber(row)
    }

    /// All assigned numbers, sorted; those of one app when `app` is given.
    package func list(app: AppID? = nil) async throws(PostgresError) -> [SIPNumber] {
        var numbers: [SIPNumber] = []
        let rows = try await pool.query(
            "SELECT \(Self.columns) FROM sip_numbers WHERE $1::text IS NULL OR app = $1 ORDER BY number",
            [.optional(app?.rawValue)])
        for row in rows { numbers.append(try SIPNumber(row)) }
        return numbers
    }

    /// Assigns a number to a user, replacing its former user in the same app.
    /// - Returns: false when the app does not exist or the number belongs to another app.
    package func set(_ number: String, to user: UserKey) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            INSERT INTO sip_numbers (number, app, account)
            SELECT $1, a.id, $3 FROM apps a WHERE a.id = $2
            ON CONFLICT (number) DO UPDATE SET account = EXCLUDED.account WHERE sip_numbers.app = EXCLUDED.app
            """,
            [.text(number), .text(user.app.rawValue), .text(user.account.rawValue)]
        ).affected == 1
    }

    /// Removes a number's assignment.
    /// - Returns: false when it was not assigned.
    package func remove(_ number: String) async throws(PostgresError) -> Bool {
        try await pool.query("DELETE FROM sip_numbers WHERE number = $1", [.text(number)]).affected == 1
    }
}

extension SIPNumber {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let account = try? Account(try row.string("account")) else {
            throw PostgresError(.shape, "the table sip_numbers contains an invalid app id or account")
        }
        self.init(
            number: try row.string("number"), user: UserKey(app: app, account: account),
            createdAt: try row.int64("created_ms"))
    }
}
