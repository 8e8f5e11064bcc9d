internal import MessageStore
internal import SignalingProtocol
internal import SignalingWire

/// What servers in the app's channel `_agora_channel_event` are told.
struct MembershipAnnouncement {
    enum Event: String {
        case join
        case leave
    }

    /// The special channel carries every join of the app, whatever its rate.
    static let unlimited = 1_000_000_000

    var event: Event
    var actor: Actor
    var channel: ChannelName
    /// 0 for a join.
    var reason: SignalingCode
    /// When, Redis clock (us).
    var microseconds: Int64

    /// - Parameter command: the one that changed the membership.
    func message(_ command: CommandID) -> ChannelMessage {
        let body = JSONValue.object([
            JSONMember(name: "event", value: .string(event.rawValue)),
            JSONMember(name: "account", value: .string(actor.user.account.rawValue)),
            JSONMember(name: "uid", value: .number(String(actor.uid))),
            JSONMember(name: "channel", value: .string(channel.rawValue)),
            JSONMember(name: "reason", value: .number(String(reason.rawValue))),
            JSONMember(name: "time", value: .number(String(microseconds / 1_000_000))),
        ])
        return ChannelMessage(
            channel: ChannelKey(app: actor.user.app, name: ChannelName(.channelEvent)), account: actor.user.account,
            uid: actor.uid, force: true, limitPerSecond: Self.unlimited, body: body.compactText,
            command: command.derived("announce"))
    }
}
