package import BusProtocol
internal import SignalingProtocol

/// The tables `presence_sessions` and `channel_members`: copies of Redis for administrators, never read by services.
///
/// Rows may arrive twice and late: a row that is not newer than the stored one is skipped.
package struct MirrorStore: Sendable {
    /// The largest number of rows of each table that are deleted by one call.
    package static let pruneBatch = 20_000

    /// A condition, always true, that makes the commit of its statement wait for this server's disk only, not for a
    /// synchronous standby: what a failover loses of the mirrors, the periodic comparison with Redis corrects. `off`,
    /// which waits even less, stays. PostgreSQL evaluates it once per statement.
    private static let committedLocally = """
        (SELECT set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'off' ELSE 'local' END, true)) IS NOT NULL
        """

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
            WHERE \(Self.committedLocally)
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
                .texts(rows.map { Self.storable($0.device) }), .bools(rows.map(\.detached)),
                .ints(rows.map(\.since.milliseconds)),
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
            WHERE \(Self.committedLocally)
            ORDER BY i.app COLLATE "C", i.channel COLLATE "C", i.account COLLATE "C", i.version DESC
            ON CONFLICT (app, channel, account) DO UPDATE SET present = EXCLUDED.present, version = EXCLUDED.version,
                uid = EXCLUDED.uid, joined_at = EXCLUDED.joined_at, updated_at = now()
            WHERE m.version < EXCLUDED.version
            """,
            [
                .texts(rows.map(\.channel.app.rawValue)), .texts(rows.map(\.channel.name.rawValue)),
                .texts(rows.map(\.account.rawValue)), .bools(rows.map(\.present)), .ints(rows.map(\.version)),
                .ints(rows.map { Int64($0.uid) }), .ints(rows.map(\.joinedAt.milliseconds)),
            ])
    }

    /// Deletes the rows of sessions and memberships that ended more than an hour ago, at most
    /// ``pruneBatch`` of each table per call.
    /// - Parameter isOff: whether mirrors are turned off. Then rows of sessions that have not changed for an hour go
    ///   too, because nobody would ever mark them as ended; default false.
    /// - Returns: the number of deleted rows.
    /// - Throws: ``PostgresError``.
    @discardableResult
    package func prune(isOff: Bool = false) async throws(PostgresError) -> Int {
        let isOver = isOff ? "true" : "NOT present"
        var pruned = 0
        for table in ["presence_sessions", "channel_members"] {
            pruned += try await pool.query(
                """
                DELETE FROM \(table) WHERE ctid IN (
                    SELECT ctid FROM \(table) WHERE \(isOver) AND updated_at < now() - interval '1 hour'
                    LIMIT \(Self.pruneBatch) FOR UPDATE SKIP LOCKED) AND \(Self.committedLocally)
                """
            ).affected
        }
        return pruned
    }

    /// Replaces NUL characters, which PostgreSQL cannot store. The device name comes from the client and is only
    /// displayed; it must not make a whole batch fail.
    private static func storable(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
