package import SignalingProtocol

/// The keys of one channel, written mainly by channel-state; the head of `channels.lua` describes their values.
package struct ChannelKeys: Sendable {
    /// The common prefix of the keys; the only key that is passed to functions.
    package let tag: String

    package init(_ channel: ChannelKey) { tag = KeySpace.tag(channel) }

    /// The keys of a log that only the server API reads: no client can name it. It has a ``state`` and a `:log` as a
    /// channel has, and ``followed``.
    package init(_ log: FollowedLog, of app: AppID) { tag = KeySpace.tag(log, of: app) }

    /// Sorted set: accounts, scored by the sequence number of their join. Absent for an empty channel.
    package var members: String { tag + ":members" }
    /// String: since when (ms) the server API has followed a special channel or a ``FollowedLog``; kept for an hour
    /// longer. While it exists, events are announced though the channel has no members.
    package var followed: String { tag + ":follow" }
    /// Hash: `uid sid` of each member, by account.
    package var memberInfo: String { tag + ":info" }
    /// Hash: the channel's counters, and copies of its built-in attributes.
    package var state: String { tag + ":state" }
    /// Hash: the cached attributes; valid only while ``attributesVersion`` exists.
    package var attributes: String { tag + ":attrs" }
    /// String: the version in PostgreSQL of the cached attributes. Absent when nothing is cached.
    package var attributesVersion: String { tag + ":attrver" }
    /// Hash: whom the app keeps out of the channel, or mutes there. Outlives the channel; expires with the latest end.
    package var restrictions: String { tag + ":bars" }
    /// String: when the channel ended (us); only until that is recorded for webhooks.
    package var end: String { tag + ":end" }

    /// A pattern for SCAN that matches the ``members`` of all channels.
    package static let membersPattern = "{a:*:c:*}:members"

    /// The app and the name of the channel whose ``members`` this is, as text; nil for other keys.
    package static func channel(ofMembers key: String) -> (app: String, name: String)? {
        guard key.hasPrefix("{a:"), key.hasSuffix("}:members") else { return nil }
        let parts = key.dropFirst("{a:".count).dropLast("}:members".count).split(separator: ":")
        guard parts.count == 3, parts[1] == "c", let app = PercentEscape.unescape(String(parts[0])),
            let name = PercentEscape.unescape(String(parts[2]))
        else { return nil }
        return (app, name)
    }
}
