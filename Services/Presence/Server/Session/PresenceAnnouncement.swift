internal import ClusterState
internal import MessageStore
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// What servers in the app's channel `_agora_user_online` are told.
struct PresenceAnnouncement {
    enum Event: String {
        case online
        case offline
    }

    /// The special channel carries every login of the app, whatever its rate.
    static let unlimited = 1_000_000_000

    var event: Event
    var user: UserKey
    var uid: UInt32
    var session: SessionID
    /// 0 for online.
    var reason: SignalingCode
    /// When, Redis clock (ms).
    var time: Int64

    var message: ChannelMessage {
        let body =
            "{\"event\":\"\(event.rawValue)\",\"account\":\(JSONText.quoted(user.account.rawValue)),\"uid\":\(uid),"
            + "\"reason\":\(reason.rawValue),\"time\":\(time / 1000)}"
        return ChannelMessage(
            channel: Self.channel(of: user.app), account: user.account, uid: uid,
            force: true, limitPerSecond: Self.unlimited, body: body,
            // Of the session, not of the command: a session comes online and goes offline once.
            command: CommandID(session.rawValue).derived(event.rawValue))
    }

    /// Asks whether anybody is in the special channel, for a pipeline of the caller's; answered 1 or 0. Asked after a change,
    /// it tells whether an announcement would be heard: mostly it would not.
    static func audience(in app: AppID) -> RedisCommand {
        RedisCommand("EXISTS", .string(ChannelKeys(channel(of: app)).members))
    }

    private static func channel(of app: AppID) -> ChannelKey { ChannelKey(app: app, name: ChannelName(.userOnline)) }
}
