internal import SignalingProtocol
internal import SignalingWire

/// The channel that the client is in, and the latest of its events that the app has received.
struct ChannelMembership {
    /// The channel's name as the app spells it; nil when the client is in none.
    private(set) var channel: String?
    /// The id of the last event received, in any channel; used to drop repeated events.
    private var lastEvent: Int64 = 0
    /// The id of the last event of the current channel; nil when there was none. A resume requests the events after it.
    private var mark: Int64?

    /// What a resume reports to the gateway: the channel, and the id of its last event received.
    var resumePoint: (channel: String?, after: Int64?) { (channel, channel == nil ? nil : mark) }

    /// Records that the client has joined a channel.
    /// - Parameter event: the id of the join's own event, if the gateway reports it; a resume can then request the
    ///   events after it.
    mutating func joined(_ name: String?, event: Int64?) {
        if name.map(Self.canonical) != channel.map(Self.canonical) { mark = nil }
        channel = name
        mark = mark ?? event
    }

    /// Records that the client is in no channel any more.
    /// - Returns: the channel that it was in.
    @discardableResult
    mutating func left() -> String? {
        defer { (channel, mark) = (nil, nil) }
        return channel
    }

    /// Records that the session was resumed.
    /// - Returns: whether all events missed meanwhile are delivered, and the channel that
    ///   the session has lost meanwhile.
    mutating func resumed(in there: String?, complete: Bool) -> (complete: Bool, lost: String?) {
        guard let channel else { return (true, nil) }
        guard let there else { return (true, left()) }
        return (Self.canonical(there) == Self.canonical(channel) ? complete && mark != nil : true, nil)
    }

    /// Takes an event from the gateway. A client gets its own leave only when the app's server has removed it.
    /// - Parameter account: the client's own.
    /// - Returns: the event for the app; nil for a repeated event, one of another channel, and a type that this version
    ///   does not know.
    mutating func take(_ id: Int64, _ line: String, of account: String) -> SignalingEvent? {
        guard id > lastEvent else { return nil }
        lastEvent = id
        guard let channel, let event = MessageText(line)?.channelEvent,
            let told = event.spelled(channel, if: Self.canonical(channel))
        else { return nil }
        mark = id
        if case .memberLeft(let spelling, account, _) = told {
            left()
            return .channelLeft(channel: spelling, code: .leaveKicked)
        }
        return told
    }

    /// The canonical spelling of a special channel, which clients may write with one or two leading underscores.
    private static func canonical(_ channel: String) -> String { (try? ChannelName(channel))?.rawValue ?? channel }
}

extension SignalingEvent {
    /// The event with the channel's name as the app spells it; nil when the event is of another channel.
    fileprivate func spelled(_ spelling: String, if canonical: String) -> SignalingEvent? {
        switch self {
        case .channelMessage(canonical, let account, let uid, let text):
            .channelMessage(channel: spelling, account: account, uid: uid, text: text)
        case .memberJoined(canonical, let account, let uid):
            .memberJoined(channel: spelling, account: account, uid: uid)
        case .memberLeft(canonical, let account, let uid): .memberLeft(channel: spelling, account: account, uid: uid)
        case .channelAttribute(canonical, let account, let uid, let change):
            .channelAttribute(channel: spelling, account: account, uid: uid, change: change)
        case .channelMessage, .memberJoined, .memberLeft, .channelAttribute, .loggedIn, .loginFailed, .reconnecting,
            .reconnected, .loggedOut, .message, .channelLeft, .call:
            nil
        }
    }
}
