internal import ClusterState
package import RedisStore
package import SignalingProtocol
internal import SignalingWire

/// What an app's servers are told in one of its special channels: users come online and go offline in `_agora_user_online`,
/// members join and leave in `_agora_channel_event`.
package struct ServerAnnouncement: Equatable, Sendable {
    /// What has happened.
    package enum Event: Equatable, Sendable {
        case online
        case offline(SignalingCode)
        case join(ChannelName)
        case leave(ChannelName, SignalingCode)
    }

    /// The special channels carry every event of the app: they have no rate limit.
    package static let unlimited = 1_000_000_000

    /// What has happened.
    package var event: Event
    /// To whom.
    package var actor: Actor
    /// When, in seconds since 1970 by the Redis clock.
    package var seconds: Int64

    /// Announces an event.
    package init(_ event: Event, of actor: Actor, seconds: Int64) {
        self.event = event
        self.actor = actor
        self.seconds = seconds
    }

    /// The command that publishes it, for a pipeline of the caller's.
    /// - Parameter command: makes a repetition harmless.
    package func publishing(_ command: CommandID) -> RedisCommand { MessageStore.command(message(command)) }

    /// The message to the special channel.
    func message(_ command: CommandID) -> ChannelMessage {
        ChannelMessage(
            channel: Self.channel(in: actor.user.app, isAboutMembers: channel != nil), account: actor.user.account,
            uid: actor.uid, force: true, limitPerSecond: Self.unlimited, body: body, command: command)
    }

    /// Asks whether anybody is in the channel that logins are announced in, for a pipeline of the caller's; answered 1 or 0.
    /// Asked after the change, it tells whether an announcement would be heard: mostly it would not.
    package static func userAudience(in app: AppID) -> RedisCommand { audience(in: app, isAboutMembers: false) }

    /// The same for the channel that joins are announced in.
    package static func memberAudience(in app: AppID) -> RedisCommand { audience(in: app, isAboutMembers: true) }

    private var body: String {
        let name = channel.map { ",\"channel\":\(JSONText.quoted($0.rawValue))" } ?? ""
        return
            "{\"event\":\"\(label)\",\"account\":\(JSONText.quoted(actor.user.account.rawValue)),\"uid\":\(actor.uid)"
            + "\(name),\"reason\":\(reason.rawValue),\"time\":\(seconds)}"
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
        RedisCommand("EXISTS", .string(ChannelKeys(channel(in: app, isAboutMembers: isAboutMembers)).members))
    }

    private static func channel(in app: AppID, isAboutMembers: Bool) -> ChannelKey {
        ChannelKey(app: app, name: ChannelName(isAboutMembers ? .channelEvent : .userOnline))
    }
}
