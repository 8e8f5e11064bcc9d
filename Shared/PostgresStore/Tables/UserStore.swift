package import SignalingProtocol

/// The stored data that a login needs.
package struct UserLogin: Equatable, Sendable {
    /// The account's numeric id.
    package var uid: UInt32
    /// The user's attributes.
    package var attributes: VersionedAttributes
    /// When the user's ban ends, in Unix seconds; nil when the user may log in.
    package var bannedUntil: Int64?
    /// The revocation of login tokens; nil when none was revoked.
    package var revocation: TokenRevocation?

    /// Which login tokens of a user were revoked.
    package struct TokenRevocation: Equatable, Sendable {
        /// Tokens that end at this time or earlier are refused, in Unix seconds.
        package var until: Int64
        /// When the user's ban ends, in Unix seconds; also of one that is over.
        package var bannedUntil: Int64
        /// The row's version; a higher one is newer.
        package var version: Int64
    }

    package init(uid: UInt32, attributes: VersionedAttributes) {
        self.uid = uid
        self.attributes = attributes
    }
}

/// The table `users`.
package struct UserStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The numeric ids of accounts, in the order of `users`; 0 for accounts that have never logged in (none is assigned
    /// here).
    /// - Throws: ``PostgresError``.
    package func numbers(of users: [UserKey]) async throws(PostgresError) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: users.count)
        let rows = try await pool.query(
            """
            SELECT i.ordinal, u.uid FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(app, account, ordinal)
            JOIN users u ON u.app = i.app COLLATE "C" AND u.account = i.account COLLATE "C"
            """, [.texts(users.map(\.app.rawValue)), .texts(users.map(\.account.rawValue))])
        for row in rows {
            let index = Int(try row.int64("ordinal")) - 1
            guard numbers.indices.contains(index), let uid = UInt32(exactly: try row.int64("uid")) else {
                throw PostgresError(.shape, "a user's uid is out of range")
            }
            numbers[index] = uid
        }
        return numbers
    }

    /// The stored data of users who log in, in the order of `users`. An account is assigned its numeric id at its first
    /// login: unique in the cluster, from 1 up, never changed. Also updates the time at which the users were last seen,
    /// at most once a day for each user.
    /// - Throws: ``PostgresError``; SQLSTATE 2200H when all 4,294,967,295 ids are in use.
    package func logins(of users: [UserKey]) async throws(PostgresError) -> [UserLogin] {
        guard !users.isEmpty else { return [] }
        let none = UserLogin(uid: 0, attributes: VersionedAttributes(version: 0, attributes: []))
        var logins = [UserLogin](repeating: none, count: users.count)
        // LIMIT keeps the ban a look-up of each user: a join could read the whole table for each batch.
        let rows = try await pool.query(
            """
            SELECT l.ordinal, l.uid, l.version, l.name, l.value,
                CASE WHEN b.until > now() THEN floor(extract(epoch FROM b.until))::bigint END AS banned,
                floor(extract(epoch FROM b.until))::bigint AS ban_end,
                floor(extract(epoch FROM b.tokens_until))::bigint AS tokens, b.version AS ban_version
            FROM user_logins($1, $2) l LEFT JOIN LATERAL (
                SELECT until, tokens_until, version FROM user_bans
                WHERE app = ($1::text[])[l.ordinal] AND account = ($2::text[])[l.ordinal] LIMIT 1
            ) b ON true
            """,
            [.texts(users.map(\.app.rawValue)), .texts(users.map(\.account.rawValue))],
            within: pool.configuration.changeTimeout)
        for row in rows {
            let index = Int(try row.int64("ordinal")) - 1
            guard logins.indices.contains(index), let uid = UInt32(exactly: try row.int64("uid")) else {
                throw PostgresError(.shape, "a user's uid is out of range")
            }
            logins[index].uid = uid
            logins[index].bannedUntil = try row.optionalInt64("banned")
            if let until = try row.optionalInt64("tokens"), until > 0 {
                logins[index].revocation = UserLogin.TokenRevocation(
                    until: until, bannedUntil: try row.int64("ban_end"), version: try row.int64("ban_version"))
            }
            guard try row.optionalInt64("version") != nil else { continue }
            try AttributeStore.add(row, to: &logins[index].attributes)
        }
        guard logins.allSatisfy({ $0.uid != 0 }) else { throw PostgresError(.shape, "a user was assigned no uid") }
        return logins
    }
}
