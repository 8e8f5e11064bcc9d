internal import ClusterState
internal import MessageStore
internal import RedisStore
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
        let account = JSONText.quoted(actor.user.account.rawValue)
        let name = JSONText.quoted(channel.rawValue)
        let body =
            "{\"event\":\"\(event.rawValue)\",\"account\":\(account),\"uid\":\(actor.uid),\"channel\":\(name),"
            + "\"reason\":\(reason.rawValue),\"time\":\(microseconds / 1_000_000)}"
        return ChannelMessage(
            channel: Self.channel(of: actor.user.app), account: actor.user.account,
            uid: actor.uid, force: true, limitPerSecond: Self.unlimited, body: body,
            command: command.derived("announce"))
    }

    /// Asks whether anybody is in the special channel, for a pipeline of the caller's; answered 1 or 0. Asked after a change,
    /// it tells whether an announcement would be heard: mostly it would not.
    static func audience(in app: AppID) -> RedisCommand {
        RedisCommand("EXISTS", .string(ChannelKeys(channel(of: app)).members))
    }

    private static func channel(of app: AppID) -> ChannelKey { ChannelKey(app: app, name: ChannelName(.channelEvent)) }
}
