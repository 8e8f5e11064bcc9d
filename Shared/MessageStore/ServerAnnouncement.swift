package import BusProtocol
internal import ClusterState
package import RedisClient
package import SignalingProtocol
internal import SignalingWire

/// An event that an app's servers can follow in one of its special channels: users going online and offline in
/// `_agora_user_online`, members joining and leaving channels in `_agora_channel_event`.
package struct ServerAnnouncement: Equatable, Sendable {
    package enum Event: Equatable, Sendable {
        case online
        case offline(SignalingCode)
        case join(ChannelName)
        case leave(ChannelName, SignalingCode)
    }

    /// The rate limit of special channels, which carry every event of the app: none.
    package static let unlimited = 1_000_000_000

    package var event: Event
    /// The user that the event is about, and the session in which it happened.
    package var actor: Actor
    /// When the event happened; told in whole seconds.
    package var time: RedisTime

    /// Announces an event.
    package init(_ event: Event, of actor: Actor, at time: RedisTime) {
        self.event = event
        self.actor = actor
        self.time = time
    }

    /// The Redis command that publishes the announcement, for the caller to send in a pipeline.
    /// - Parameter command: identifies repetitions, which have no further effect.
    package func publishing(_ command: CommandID) -> RedisCommand { MessageStore.command(message(command)) }

    /// The message that is sent to the special channel.
    func message(_ command: CommandID) -> ChannelMessage {
        var message = ChannelMessage(
            channel: Self.channel(in: actor.user.app, isAboutMembers: channel != nil), account: actor.user.account,
            uid: actor.uid, body: body)
        message.force = true
        message.limitPerSecond = Self.unlimited
        message.command = command
        return message
    }

    /// The Redis command, for the caller's pipeline, that asks whether anyone is in the channel where logins are
    /// announced, or follows it by the server API; answered 0 when not. Sent after the change, so that an announcement
    /// without receivers, the usual case, need not be made.
    package static func userAudience(in app: AppID) -> RedisCommand { audience(in: app, isAboutMembers: false) }

    /// The same for the channel where joins are announced, and for the log of channels that begin and end, which lies
    /// beside it.
    package static func memberAudience(in app: AppID) -> RedisCommand { audience(in: app, isAboutMembers: true) }

    /// Reads the reply to ``userAudience(in:)`` or ``memberAudience(in:)``.
    /// - Parameter reply: nil when there was none: an announcement without receivers does nothing.
    package static func mayBeHeard(_ reply: RedisValue?) -> Bool { reply.map { $0.int ?? 0 > 0 } ?? true }

    private var body: String {
        var members = [
            JSONMember("event", label), JSONMember("account", actor.user.account.rawValue),
            JSONMember("uid", actor.uid),
        ]
        if let channel { members.append(JSONMember("channel", channel.rawValue)) }
        members.append(JSONMember("reason", reason.rawValue))
        members.append(JSONMember("time", time.milliseconds / 1000))
        return JSONValue.object(members).compactText
    }

    private var label: String {
        switch event {
        case .online: "online"
        case .offline: "offline"
        case .join: "join"
        case .leave: "leave"
        }
    }

    private var channel: ChannelName? {
        switch event {
        case .online, .offline: nil
        case .join(let channel), .leave(let channel, _): channel
        }
    }

    private var reason: SignalingCode {
        switch event {
        case .online, .join: .success
        case .offline(let reason), .leave(_, let reason): reason
        }
    }

    private static func audience(in app: AppID, isAboutMembers: Bool) -> RedisCommand {
        let keys = ChannelKeys(channel(in: app, isAboutMembers: isAboutMembers))
        guard isAboutMembers else { return RedisCommand("EXISTS", key: keys.members, .string(keys.followed)) }
        let log = ChannelKeys(.channels, of: app)
        return RedisCommand("EXISTS", key: keys.members, .string(keys.followed), .string(log.followed))
    }

    private static func channel(in app: AppID, isAboutMembers: Bool) -> ChannelKey {
        ChannelKey(app: app, name: ChannelName(isAboutMembers ? .channelEvent : .userOnline))
    }
}
