package import SignalingProtocol

/// A deadline of channel-state, as it stands in `due:channel-state`.
///
/// A timer that fires tells only where to look: what is to be done is read from Redis and PostgreSQL then.
package enum ChannelTimer: Hashable, Sendable {
    /// The channel may have been empty for its time to live.
    case expiry(ChannelKey)
    /// A change of the channel's attributes may be committed and not yet announced.
    case attributes(ChannelKey)
    /// A number that the system keeps may have to be told.
    case counter(ChannelCounter, ChannelKey)

    /// Reads a member of the set; nil for what no version of this service wrote.
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

    /// The member of the set.
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
