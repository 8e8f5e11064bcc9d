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

    /// Reads the timer's words; nil for words that no version of this service has written.
    package init?(words: [String]) {
        guard words.count == 3, let app = try? AppID(words[1]), let name = try? ChannelName(words[2]) else {
            return nil
        }
        let channel = ChannelKey(app: app, name: name)
        switch words[0] {
        case "expiry": self = .expiry(channel)
        case "attributes": self = .attributes(channel)
        default:
            guard let counter = ChannelCounter(rawValue: words[0]) else { return nil }
            self = .counter(counter, channel)
        }
    }

    /// The channel.
    package var subject: Subject {
        switch self {
        case .expiry(let channel), .attributes(let channel), .counter(_, let channel): .channel(channel)
        }
    }

    /// The timer's kind and its channel, for the set of timers.
    package var words: [String] {
        let (kind, channel): (String, ChannelKey) =
            switch self {
            case .expiry(let channel): ("expiry", channel)
            case .attributes(let channel): ("attributes", channel)
            case .counter(let counter, let channel): (counter.rawValue, channel)
            }
        return [kind, channel.app.rawValue, channel.name.rawValue]
    }
}

/// A counter of a channel, which the system maintains and announces to the members when it has changed.
///
/// The raw value is the counter's name in Redis, and the first part of its timer's name.
package enum ChannelCounter: String, Sendable, CaseIterable {
    /// `_member_num`, announced at the interval `_auto_update_num`.
    case members = "num"
    /// `_total_member_num`, announced at the interval `_auto_update_total_num`, if `_auto_update_num` is on too.
    case total
}
