package import BusProtocol
package import SignalingProtocol

/// Pages through the mirrored rows that are marked present, for comparison with Redis. No other part of
/// the services reads the mirror.
extension MirrorStore {
    /// Younger rows are skipped: Redis may just have changed, so a difference would prove nothing.
    private static let settling = "interval '30 seconds'"

    /// Users with a session, sorted by user.
    /// - Parameter last: the last user of the previous page; nil for the first page.
    /// - Throws: ``PostgresError``.
    package func presentSessions(after last: UserKey?, limit: Int) async throws(PostgresError) -> [PresenceMirrorRow] {
        let rows = try await pool.query(
            """
            SELECT app, account, version, uid, session, gateway, device, detached,
                (extract(epoch FROM since) * 1000)::bigint AS since
            FROM presence_sessions
            WHERE present AND updated_at < now() - \(Self.settling) AND (app, account) > ($1::text, $2::text)
            ORDER BY app, account LIMIT $3::bigint
            """,
            [.text(last?.app.rawValue ?? ""), .text(last?.account.rawValue ?? ""), .int(Int64(limit))])
        var sessions: [PresenceMirrorRow] = []
        for row in rows {
            guard let user = Self.user(try row.string("app"), try row.string("account")) else { continue }
            sessions.append(try Self.session(row, of: user))
        }
        return sessions
    }

    private static func session(_ row: PostgresRow, of user: UserKey) throws(PostgresError) -> PresenceMirrorRow {
        let actor = Actor(
            user: user, uid: UInt32(truncatingIfNeeded: try row.int64("uid")),
            session: SessionID(try row.string("session")))
        var session = PresenceMirrorRow(
            of: actor, version: try row.int64("version"), gateway: GatewayID(try row.string("gateway")),
            device: try row.string("device"), since: RedisTime(milliseconds: try row.int64("since")))
        session.detached = try row.bool("detached")
        return session
    }

    /// The channels that a user is in.
    /// - Throws: ``PostgresError``.
    package func channels(of user: UserKey) async throws(PostgresError) -> [ChannelName] {
        let rows = try await pool.query(
            "SELECT channel FROM channel_members WHERE app = $1 AND account = $2 AND present",
            [.text(user.app.rawValue), .text(user.account.rawValue)])
        var channels: [ChannelName] = []
        for row in rows {
            if let channel = try? ChannelName(try row.string("channel")) { channels.append(channel) }
        }
        return channels
    }

    /// Members of channels, sorted by channel and account.
    /// - Parameter last: the last row of the previous page; nil for the first page.
    /// - Throws: ``PostgresError``.
    package func presentMembers(
        after last: MemberMirrorRow?, limit: Int
    ) async throws(PostgresError) -> [MemberMirrorRow] {
        let rows = try await pool.query(
            """
            SELECT app, channel, account, version, uid, (extract(epoch FROM joined_at) * 1000)::bigint AS joined
            FROM channel_members
            WHERE present AND updated_at < now() - \(Self.settling)
                AND (app, channel, account) > ($1::text, $2::text, $3::text)
            ORDER BY app, channel, account LIMIT $4::bigint
            """,
            [
                .text(last?.channel.app.rawValue ?? ""), .text(last?.channel.name.rawValue ?? ""),
                .text(last?.account.rawValue ?? ""), .int(Int64(limit)),
            ])
        var members: [MemberMirrorRow] = []
        for row in rows {
            guard let user = Self.user(try row.string("app"), try row.string("account")),
                let name = try? ChannelName(try row.string("channel"))
            else { continue }
            members.append(
                MemberMirrorRow(
                    of: Member(account: user.account, uid: UInt32(truncatingIfNeeded: try row.int64("uid"))),
                    in: ChannelKey(app: user.app, name: name), version: try row.int64("version"), present: true,
                    joinedAt: RedisTime(milliseconds: try row.int64("joined"))))
        }
        return members
    }

    private static func user(_ app: String, _ account: String) -> UserKey? {
        guard let app = try? AppID(app), let account = try? Account(account) else { return nil }
        return UserKey(app: app, account: account)
    }
}
