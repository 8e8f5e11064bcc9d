internal import MessageStore
internal import PresenceLogic
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
        let body = JSONValue.object([
            JSONMember(name: "event", value: .string(event.rawValue)),
            JSONMember(name: "account", value: .string(user.account.rawValue)),
            JSONMember(name: "uid", value: .number(String(uid))),
            JSONMember(name: "reason", value: .number(String(reason.rawValue))),
            JSONMember(name: "time", value: .number(String(time / 1000))),
        ])
        return ChannelMessage(
            channel: ChannelKey(app: user.app, name: ChannelName(.userOnline)), account: user.account, uid: uid,
            force: true, limitPerSecond: Self.unlimited, body: body.compactText,
            // Of the session, not of the command: a session comes online and goes offline once.
            command: CommandID(session.rawValue).derived(event.rawValue))
    }
}
