package import BusProtocol
package import SignalingProtocol

/// The table `user_bans`. Every method throws ``PostgresError``.
package struct BanStore: Sendable {
    /// A ban as Redis keeps a copy of it.
    package struct Entry: Equatable, Sendable {
        package var user: UserKey
        package var ban: UserBan
        /// Login tokens that end at this time or earlier are refused, in Unix seconds; 0 when none was revoked.
        package var tokensUntil: Int64
        /// Rises with each change of the user's ban.
        package var version: Int64
        /// Whether the ban's time was not over when it was read.
        package var holds: Bool
    }

    /// The clock in microseconds.
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    private static let columns = """
        app, account, floor(extract(epoch FROM until))::bigint AS until, reason,
        floor(extract(epoch FROM created_at))::bigint AS created, version,
        floor(extract(epoch FROM tokens_until))::bigint AS tokens,
        until > clock_timestamp() AS holds
        """

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Bans a user until a time in Unix seconds; replaces an earlier ban.
    /// - Returns: nil when the app does not exist.
    /// - Throws: an error with ``PostgresError/isBoundOfApp`` when the app has as many bans and revocations as it may.
    package func set(
        _ user: UserKey, until: Int64, reason: String, by cause: AuditCause? = nil
    ) async throws(PostgresError) -> Entry? {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$5"))
            INSERT INTO user_bans AS b (app, account, until, reason, version)
            SELECT $1, $2, to_timestamp($3::bigint), $4, \(Self.now) FROM cause WHERE EXISTS (SELECT FROM apps WHERE id = $1)
            ON CONFLICT (app, account) DO UPDATE SET until = EXCLUDED.until, reason = EXCLUDED.reason,
                created_at = now(), version = greatest(b.version + 1, EXCLUDED.version)
            RETURNING \(Self.columns)
            """,
            [
                .text(user.app.rawValue), .text(user.account.rawValue), .int(until), .text(reason),
                .optional(cause?.text),
            ],
            within: pool.configuration.changeTimeout)
        return try rows.first.flatMap { row throws(PostgresError) in try Self.entry(row) }
    }

    /// A user's ban; nil when there is none, or its time is over.
    package func find(_ user: UserKey) async throws(PostgresError) -> UserBan? {
        let rows = try await pool.query(
            "SELECT \(Self.columns) FROM user_bans WHERE app = $1 AND account = $2 AND until > now()",
            [.text(user.app.rawValue), .text(user.account.rawValue)], within: pool.configuration.actTimeout)
        return try rows.first.flatMap { row throws(PostgresError) in try Self.entry(row) }?.ban
    }

    /// Ends a user's ban. Its row stays until ``prune(limit:)``, so that Redis is told of the end again should it lose
    /// it. A user without a row gets one, because its lock orders this and a first ban that is being written meanwhile.
    /// - Returns: the row, with a version above those of all bans of the user before; also when the app does not exist,
    ///   or has as many bans as it may and none of the user: no first ban can be on its way then.
    package func lift(_ user: UserKey, by cause: AuditCause? = nil) async throws(PostgresError) -> Entry {
        do throws(PostgresError) {
            return try await lift(user, isFull: false, by: cause)
        } catch {
            guard error.isBoundOfApp else { throw error }
            return try await lift(user, isFull: true, by: cause)
        }
    }

    /// - Parameter isFull: whether a row that is not there cannot be added.
    private func lift(
        _ user: UserKey, isFull: Bool, by cause: AuditCause?
    ) async throws(PostgresError) -> Entry {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$4")), lifted AS (
                INSERT INTO user_bans AS b (app, account, until, version)
                SELECT $1, $2, now(), \(Self.now) FROM cause WHERE EXISTS (SELECT FROM apps WHERE id = $1)
                    AND (NOT $3 OR EXISTS (SELECT FROM user_bans WHERE app = $1 AND account = $2))
                ON CONFLICT (app, account) DO UPDATE SET until = least(b.until, now()),
                    version = greatest(b.version + 1, EXCLUDED.version)
                RETURNING *)
            SELECT \(Self.columns) FROM lifted UNION ALL
            SELECT $1, $2, 0, '', 0, \(Self.now), 0, false WHERE NOT EXISTS (SELECT FROM lifted)
            """,
            [
                .text(user.app.rawValue), .text(user.account.rawValue), .bool(isFull), .optional(cause?.text),
            ],
            within: pool.configuration.changeTimeout)
        guard let row = rows.first, let entry = try Self.entry(row) else {
            throw PostgresError(.shape, "no version was returned")
        }
        return entry
    }

    /// Revokes a user's login tokens that end at a time in Unix seconds or earlier, and those that were revoked before.
    /// - Returns: nil when the app does not exist.
    /// - Throws: as ``set(_:until:reason:)``.
    package func revokeTokens(
        of user: UserKey, until: Int64, by cause: AuditCause? = nil
    ) async throws(PostgresError) -> Entry? {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$4"))
            INSERT INTO user_bans AS b (app, account, until, tokens_until, version)
            SELECT $1, $2, to_timestamp(0), to_timestamp($3::bigint), \(Self.now) FROM cause
            WHERE EXISTS (SELECT FROM apps WHERE id = $1)
            ON CONFLICT (app, account) DO UPDATE SET tokens_until = greatest(b.tokens_until, EXCLUDED.tokens_until),
                version = greatest(b.version + 1, EXCLUDED.version)
            RETURNING \(Self.columns)
            """,
            [.text(user.app.rawValue), .text(user.account.rawValue), .int(until), .optional(cause?.text)],
            within: pool.configuration.changeTimeout)
        return try rows.first.flatMap { row throws(PostgresError) in try Self.entry(row) }
    }

    /// The time until which login tokens of a user end that were revoked, in Unix seconds; 0 when none was.
    package func tokensUntil(of user: UserKey) async throws(PostgresError) -> Int64 {
        let rows = try await pool.query(
            """
            SELECT floor(extract(epoch FROM tokens_until))::bigint AS tokens FROM user_bans
            WHERE app = $1 AND account = $2
            """, [.text(user.app.rawValue), .text(user.account.rawValue)], within: pool.configuration.actTimeout)
        return try rows.first?.int64("tokens") ?? 0
    }

    /// The apps that have bans, or had some less than a day ago.
    package func apps() async throws(PostgresError) -> [AppID] {
        var apps: [AppID] = []
        for row in try await pool.query("SELECT app FROM app_stored WHERE kind = 'bans' ORDER BY app") {
            // A name that no service could have written is passed over, as its bans are.
            if let app = try? AppID(try row.string("app")) { apps.append(app) }
        }
        return apps
    }

    /// Bans of several apps, also those whose time was over less than a day ago, by account.
    /// - Parameters:
    ///   - places: of each app, the last account of the previous page; empty for the first page.
    ///   - limit: the largest number of bans of each app.
    package func recent(
        after places: [(app: AppID, last: String)], limit: Int
    ) async throws(PostgresError) -> [Entry] {
        let rows = try await pool.query(
            """
            SELECT \(Self.columns) FROM unnest($1::text[], $2::text[]) AS i(of_app, last)
            CROSS JOIN LATERAL (
                SELECT * FROM user_bans b WHERE b.app = i.of_app COLLATE "C" AND b.account > i.last COLLATE "C"
                ORDER BY b.account LIMIT $3::bigint) b
            ORDER BY app, account
            """,
            [.texts(places.map(\.app.rawValue)), .texts(places.map(\.last)), .int(Int64(limit))])
        return try Self.entries(rows)
    }

    /// Deletes what was over a day ago, bans and revocations, at most so many.
    /// - Returns: the number of deleted bans.
    package func prune(limit: Int) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM user_bans WHERE (app, account) IN (
                SELECT app, account FROM user_bans
                WHERE until < now() - interval '1 day' AND tokens_until < now() - interval '1 day' LIMIT $1::bigint)
            AND until < now() - interval '1 day' AND tokens_until < now() - interval '1 day'
            """, [.int(Int64(limit))]
        ).affected
    }

    private static func entries(_ rows: PostgresRows) throws(PostgresError) -> [Entry] {
        var entries: [Entry] = []
        for row in rows { if let entry = try entry(row) { entries.append(entry) } }
        return entries
    }

    /// Nil for names that no service could have written.
    private static func entry(_ row: PostgresRow) throws(PostgresError) -> Entry? {
        guard let app = try? AppID(try row.string("app")), let account = try? Account(try row.string("account")) else {
            return nil
        }
        let ban = UserBan(
            until: try row.int64("until"), reason: try row.string("reason"), createdAt: try row.int64("created"))
        return Entry(
            user: UserKey(app: app, account: account), ban: ban,
            tokensUntil: try row.int64("tokens"), version: try row.int64("version"),
            holds: try row.bool("holds"))
    }
}
