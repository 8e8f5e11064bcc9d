package import SignalingProtocol

/// A copy of a user's session as it was in Redis at some version.
package struct PresenceMirrorRow: Equatable, Sendable {
    /// The session's user.
    package var user: UserKey
    /// Increases with every change of the user's session.
    package var version: Int64
    /// Whether the session exists, default true; when it does not, the other fields describe the last one.
    package var present = true
    /// The account's numeric id.
    package var uid: UInt32
    /// The session's id.
    package var session: SessionID
    /// The gateway that holds the session's connection, or last held it.
    package var gateway: GatewayID
    /// The client's `device` field.
    package var device: String
    /// Whether the session currently has no connection; default false.
    package var detached = false
    /// When the session began, in Unix milliseconds.
    package var since: Int64

    /// Creates the row of a session that exists and has a connection.
    package init(of actor: Actor, version: Int64, gateway: GatewayID, device: String, since: Int64) {
        user = actor.user
        uid = actor.uid
        session = actor.session
        self.version = version
        self.gateway = gateway
        self.device = device
        self.since = since
    }
}

/// A copy of a channel membership as it was in Redis at some version.
package struct MemberMirrorRow: Equatable, Sendable {
    /// The channel of the membership.
    package var channel: ChannelKey
    /// The member's account.
    package var account: Account
    /// Increases with every change of the channel's members.
    package var version: Int64
    /// Whether the account is a member.
    package var present: Bool
    /// The account's numeric id.
    package var uid: UInt32
    /// When the account joined, in Unix milliseconds.
    package var joinedAt: Int64

    package init(of member: Member, in channel: ChannelKey, version: Int64, present: Bool, joinedAt: Int64) {
        self.channel = channel
        account = member.account
        uid = member.uid
        self.version = version
        self.present = present
        self.joinedAt = joinedAt
    }
}

/// The tables `presence_sessions` and `channel_members`: copies of Redis for administrators, never read by services.
///
/// Rows may arrive twice and late: a row that is not newer than the stored one is skipped.
package struct MirrorStore: Sendable {
    /// The largest number of rows of each table that are deleted by one call.
    package static let pruneBatch = 20_000

    let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Writes users' sessions, in one statement.
    /// - Throws: ``PostgresError``.
    package func sessions(_ rows: [PresenceMirrorRow]) async throws(PostgresError) {
        guard !rows.isEmpty else { return }
        try await pool.query(
            """
            INSERT INTO presence_sessions AS p
                (app, account, present, version, uid, session, gateway, device, detached, since)
            SELECT DISTINCT ON (i.app COLLATE "C", i.account COLLATE "C") i.app, i.account, i.present, i.version, i.uid,
                i.session, i.gateway, i.device, i.detached, to_timestamp(i.since / 1000.0)
            FROM unnest($1::text[], $2::text[], $3::boolean[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
                $8::text[], $9::boolean[], $10::bigint[])
                AS i(app, account, present, version, uid, session, gateway, device, detached, since)
            ORDER BY i.app COLLATE "C", i.account COLLATE "C", i.version DESC
            ON CONFLICT (app, account) DO UPDATE SET present = EXCLUDED.present, version = EXCLUDED.version,
                uid = EXCLUDED.uid, session = EXCLUDED.session, gateway = EXCLUDED.gateway, device = EXCLUDED.device,
                detached = EXCLUDED.detached, since = EXCLUDED.since, updated_at = now()
            WHERE p.version < EXCLUDED.version
            """,
            [
                .texts(rows.map(\.user.app.rawValue)), .texts(rows.map(\.user.account.rawValue)),
                .bools(rows.map(\.present)), .ints(rows.map(\.version)), .ints(rows.map { Int64($0.uid) }),
                .texts(rows.map(\.session.rawValue)), .texts(rows.map(\.gateway.rawValue)),
                .texts(rows.map { Self.storable($0.device) }), .bools(rows.map(\.detached)), .ints(rows.map(\.since)),
            ])
    }

    /// Writes memberships, in one statement.
    /// - Throws: ``PostgresError``.
    package func members(_ rows: [MemberMirrorRow]) async throws(PostgresError) {
        guard !rows.isEmpty else { return }
        try await pool.query(
            """
            INSERT INTO channel_members AS m (app, channel, account, present, version, uid, joined_at)
            SELECT DISTINCT ON (i.app COLLATE "C", i.channel COLLATE "C", i.account COLLATE "C")
                i.app, i.channel, i.account, i.present, i.version, i.uid, to_timestamp(i.joined_at / 1000.0)
            FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[], $7::bigint[])
                AS i(app, channel, account, present, version, uid, joined_at)
            ORDER BY i.app COLLATE "C", i.channel COLLATE "C", i.account COLLATE "C", i.version DESC
            ON CONFLICT (app, channel, account) DO UPDATE SET present = EXCLUDED.present, version = EXCLUDED.version,
                uid = EXCLUDED.uid, joined_at = EXCLUDED.joined_at, updated_at = now()
            WHERE m.version < EXCLUDED.version
            """,
            [
                .texts(rows.map(\.channel.app.rawValue)), .texts(rows.map(\.channel.name.rawValue)),
                .texts(rows.map(\.account.rawValue)), .bools(rows.map(\.present)), .ints(rows.map(\.version)),
                .ints(rows.map { Int64($0.uid) }), .ints(rows.map(\.joinedAt)),
            ])
    }

    /// Deletes the rows of sessions and memberships that ended more than an hour ago, at most ``pruneBatch`` of each table
    /// per call.
    /// - Returns: the number of deleted rows.
    /// - Throws: ``PostgresError``.
    @discardableResult
    package func prune() async throws(PostgresError) -> Int {
        var pruned = 0
        for table in ["presence_sessions", "channel_members"] {
            pruned += try await pool.query(
                """
                DELETE FROM \(table) WHERE ctid IN (
                    SELECT ctid FROM \(table) WHERE NOT present AND updated_at < now() - interval '1 hour'
                    LIMIT \(Self.pruneBatch) FOR UPDATE SKIP LOCKED)
                """
            ).affected
        }
        return pruned
    }

    /// Replaces NUL characters, which PostgreSQL cannot store. The device name comes from the client and is only displayed;
    /// it must not make a whole batch fail.
    private static func storable(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
