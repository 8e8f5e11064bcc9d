package import SignalingProtocol

/// A channel that has attributes in PostgreSQL.
package struct AttributedChannel: Equatable, Sendable {
    package var channel: ChannelKey
    /// Whether the channel has had a member since it got attributes.
    package var wasJoined: Bool
}

/// Tells channels that Redis has lost (after a loss of its data) from channels that had attributes but never a member.
extension AttributeStore {
    /// One page of the channels that have attributes, sorted by app and name.
    /// - Parameters:
    ///   - last: the last channel of the previous page; nil for the first page.
    ///   - limit: the page's size.
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
                throw PostgresError(.shape, "the database contains an invalid channel name")
            }
            channels.append(
                AttributedChannel(channel: ChannelKey(app: app, name: name), wasJoined: try row.bool("joined")))
        }
        return channels
    }

    /// Records that channels have or have had members. Channels without attributes are skipped.
    package func noteJoined(_ channels: [ChannelKey]) async throws(PostgresError) {
        guard !channels.isEmpty else { return }
        try await pool.query(
            """
            UPDATE channel_attribute_versions v SET joined = true FROM unnest($1::text[], $2::text[]) AS i(app, channel)
            WHERE v.app = i.app COLLATE "C" AND v.channel = i.channel COLLATE "C" AND v.attributes > 0 AND NOT v.joined
            """, [.texts(channels.map(\.app.rawValue)), .texts(channels.map(\.name.rawValue))])
    }

    /// Clears the record of former members for channels that no longer have attributes.
    package func forgetJoined() async throws(PostgresError) {
        try await pool.query(
            "UPDATE channel_attribute_versions SET joined = false WHERE attributes = 0 AND joined")
    }
}
