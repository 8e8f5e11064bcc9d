internal import SignalingProtocol
internal import SignalingWire

/// The channel that the client is in, and the events of it that the app has seen.
struct ChannelMembership {
    /// The channel as the app spells it; nil outside channels.
    private(set) var channel: String?
    /// The number of the last event seen, of any channel; each is taken once.
    private var lastEvent: Int64 = 0
    /// The number of the last event of the present channel; nil when there was none. A resume asks for the events after it.
    private var mark: Int64?

    /// What a resume tells the gateway: the channel, and the last event of it that was seen.
    var resumePoint: (channel: String?, after: Int64?) { (channel, channel == nil ? nil : mark) }

    /// The client has joined a channel.
    /// - Parameter event: the number of the join's own event, from gateways that tell it: what follows can be asked for.
    mutating func joined(_ name: String?, event: Int64?) {
        if name.map(Self.canonical) != channel.map(Self.canonical) { mark = nil }
        channel = name
        mark = mark ?? event
    }

    /// The client is in no channel any more.
    /// - Returns: the channel it was in.
    @discardableResult
    mutating func left() -> String? {
        defer { (channel, mark) = (nil, nil) }
        return channel
    }

    /// The session was resumed.
    /// - Returns: whether all events of the absence come, and the channel that the session has lost meanwhile.
    mutating func resumed(in there: String?, complete: Bool) -> (complete: Bool, lost: String?) {
        guard let channel else { return (true, nil) }
        guard let there else { return (true, left()) }
        return (Self.canonical(there) == Self.canonical(channel) ? complete && mark != nil : true, nil)
    }

    /// Takes an event.
    /// - Returns: what the app is told; nil for events that were seen, of other channels, or of later versions.
    mutating func take(_ id: Int64, _ line: String) -> SignalingEvent? {
        guard id > lastEvent else { return nil }
        lastEvent = id
        guard let channel, let event = MessageText(line)?.channelEvent,
            let told = event.spelled(channel, if: Self.canonical(channel))
        else { return nil }
        mark = id
        return told
    }

    /// The one spelling of a special channel, which clients may write with one or two leading underscores.
    private static func canonical(_ channel: String) -> String { (try? ChannelName(channel))?.rawValue ?? channel }
}

extension SignalingEvent {
    /// The event with its channel as the app spells it; nil when it is of another channel.
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
