internal import BusProtocol
package import SignalingProtocol

/// One user and one channel with what lists leave out, as JSON in the words of the lists.
extension RecordListStore {
    /// A user's channels that are shown at most.
    private static let userChannels = 1000

    /// A user as the list of users has it, with `firstSeen`, `lastSeen`, `channels` and `attributes`; nil for an
    /// account that has never logged in.
    /// - Throws: ``PostgresError``.
    package func user(_ user: UserKey) async throws(PostgresError) -> String? {
        try await record(
            """
            SELECT json_build_object('account', u.account, 'uid', u.uid,
                'state', CASE s.detached WHEN true THEN 'detached' WHEN false THEN 'connected' ELSE 'offline' END,
                'gateway', s.gateway, 'device', s.device, 'since', \(Self.seconds("s.since")),
                'firstSeen', \(Self.seconds("u.first_seen")), 'lastSeen', \(Self.seconds("u.last_seen")),
                'channels', (SELECT coalesce(json_agg(m.channel ORDER BY m.channel), '[]') FROM (
                    SELECT channel FROM channel_member_list WHERE app = $1 AND account = $2
                    ORDER BY channel LIMIT \(Self.userChannels)) m),
                'attributes', (SELECT coalesce(json_object_agg(a.name, a.value ORDER BY a.name), '{}')
                    FROM user_attributes a WHERE a.app = $1 AND a.account = $2))::text AS record
            FROM users u LEFT JOIN presence_sessions s ON s.app = u.app AND s.account = u.account AND s.present
            WHERE u.app = $1 AND u.account = $2
            """, user.app, user.account.rawValue)
    }

    /// A channel with the number of its members and its attributes; nil when it has neither.
    /// - Throws: ``PostgresError``.
    package func channel(_ channel: ChannelKey) async throws(PostgresError) -> String? {
        try await record(
            """
            SELECT json_build_object('channel', $2::text, 'total', c.total, 'attributes', c.attributes)::text AS record
            FROM (SELECT
                coalesce((SELECT members FROM channel_sizes WHERE app = $1 AND channel = $2), 0) AS total,
                (SELECT json_object_agg(name, value ORDER BY name) FROM channel_attributes
                    WHERE app = $1 AND channel = $2) AS attributes) c
            WHERE c.total > 0 OR c.attributes IS NOT NULL
            """, channel.app, channel.name.rawValue)
    }

    private func record(_ sql: String, _ app: AppID, _ name: String) async throws(PostgresError) -> String? {
        guard let row = try await pool.query(sql, [.text(app.rawValue), .text(name)]).first else { return nil }
        return try row.string("record")
    }
}
