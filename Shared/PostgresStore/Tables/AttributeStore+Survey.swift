package import SignalingProtocol

/// A channel with attributes, as PostgreSQL knows it.
package struct AttributedChannel: Equatable, Sendable {
    /// Which.
    package var channel: ChannelKey
    /// Whether it had a member since it got attributes.
    package var wasJoined: Bool
}

/// What tells a channel that Redis has forgotten from one that nobody ever joined.
extension AttributeStore {
    /// Channels with attributes, by app and name.
    /// - Parameters:
    ///   - last: the last one of the page before; nil to begin.
    ///   - limit: how many at most.
    package func attributedChannels(
        after last: ChannelKey?, limit: Int
    ) async throws(PostgresError) -> [AttributedChannel] {
        let rows = try await pool.query(
            """
            SELECT app, channel, joined FROM channel_attribute_versions
            WHERE (app, channel) > ($1, $2) AND attributes > 0 ORDER BY app, channel LIMIT $3
            """, [.text(last?.app.rawValue ?? ""), .text(last?.name.rawValue ?? ""), .int(Int64(limit))])
        var channels: [AttributedChannel] = []
        for row in rows {
            guard let app = try? AppID(row.string("app")), let name = try? ChannelName(row.string("channel")) else {
                throw PostgresError(.shape, "a stored channel's name is none")
            }
            channels.append(
                AttributedChannel(channel: ChannelKey(app: app, name: name), wasJoined: try row.bool("joined")))
        }
        return channels
    }

    /// Notes that channels have or had members; what has no attributes any more is forgotten to have had some.
    package func noteJoined(_ channels: [ChannelKey]) async throws(PostgresError) {
        guard !channels.isEmpty else { return }
        try await pool.query(
            """
            UPDATE channel_attribute_versions v SET joined = true FROM unnest($1::text[], $2::text[]) AS i(app, channel)
            WHERE v.app = i.app COLLATE "C" AND v.channel = i.channel COLLATE "C" AND v.attributes > 0 AND NOT v.joined
            """, [.texts(channels.map(\.app.rawValue)), .texts(channels.map(\.name.rawValue))])
    }

    /// Channels that have lost all attributes begin anew.
    package func forgetJoined() async throws(PostgresError) {
        try await pool.query(
            "UPDATE channel_attribute_versions SET joined = false WHERE attributes = 0 AND joined")
    }
}
