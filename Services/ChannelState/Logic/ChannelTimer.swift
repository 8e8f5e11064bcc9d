package import SignalingProtocol

/// A timer of channel-state, a member of the sorted set `due:channel-state`.
///
/// A timer only tells where to look; what has to be done is then read from Redis and PostgreSQL.
package enum ChannelTimer: Hashable, Sendable {
    /// The channel may have been empty for its time to live.
    case expiry(ChannelKey)
    /// A change of the channel's attributes may be committed and not yet announced.
    case attributes(ChannelKey)
    /// A counter may have to be announced.
    case counter(ChannelCounter, ChannelKey)

    /// Parses a member of the set; nil for text that no version of this service has written.
    package init?(member: String) {
        let parts = member.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let app = PercentEscape.unescape(parts[1]), let name = PercentEscape.unescape(parts[2]),
            let app = try? AppID(app), let name = try? ChannelName(name)
        else { return nil }
        let channel = ChannelKey(app: app, name: name)
        switch parts[0] {
        case "expiry": self = .expiry(channel)
        case "attributes": self = .attributes(channel)
        default:
            guard let counter = ChannelCounter(rawValue: parts[0]) else { return nil }
            self = .counter(counter, channel)
        }
    }

    /// The timer as a member of the set.
    package var member: String {
        switch self {
        case .expiry(let channel): "expiry:\(Self.text(channel))"
        case .attributes(let channel): "attributes:\(Self.text(channel))"
        case .counter(let counter, let channel): "\(counter.rawValue):\(Self.text(channel))"
        }
    }

    private static func text(_ channel: ChannelKey) -> String {
        "\(PercentEscape.escape(channel.app.rawValue)):\(PercentEscape.escape(channel.name.rawValue))"
    }
}
