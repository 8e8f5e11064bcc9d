package import SignalingProtocol
internal import SignalingWire

/// What an app's servers can be told of by webhook.
package enum WebhookKind: String, Sendable, CaseIterable, FieldValue {
    /// A user's session has begun; not one that replaces another.
    case online
    /// A user's session has ended, and no other has replaced it.
    case offline
    /// A user has joined a channel.
    case join
    /// A user has left a channel.
    case leave
    /// A channel has got its first member.
    case channelCreated = "channel_created"
    /// A channel has ended: nobody was in it during its time to live.
    case channelDestroyed = "channel_destroyed"
    /// A call has begun, rings, was accepted or has ended.
    case call
    /// A user or an app's server has sent a message.
    case message

    /// The kinds that a webhook has unless others are named. Messages are not among them: they are many, and private.
    package static let standard = Set(allCases).subtracting([.message])
}

/// An event of an app, as a webhook tells it.
package struct WebhookEvent: Equatable, Sendable {
    /// What the event is about.
    package enum Subject: Equatable, Sendable {
        /// A user; the reason why it went offline, `success` when it came online.
        case user(Account, uid: UInt32, reason: SignalingCode)
        /// A user and a channel; the reason why it left, `success` when it joined.
        case member(Account, uid: UInt32, channel: ChannelName, reason: SignalingCode)
        /// A channel.
        case channel(ChannelName)
        /// A call.
        case call(WebhookCall)
        /// A message.
        case message(WebhookMessage)
    }

    /// What has happened.
    package var kind: WebhookKind
    /// The app.
    package var app: AppID
    /// When, in microseconds of Redis' clock: never the same for two events about the same user or channel.
    package var microseconds: Int64
    /// What it is about.
    package var subject: Subject
    /// The request of the server API that has caused it; nil for none.
    package var request: EventRequest?

    /// Creates an event.
    package init(
        _ kind: WebhookKind, in app: AppID, at microseconds: Int64, _ subject: Subject, for request: EventRequest? = nil
    ) {
        self.kind = kind
        self.app = app
        self.microseconds = microseconds
        self.subject = subject
        self.request = request
    }

    /// The same at each delivery, different from that of any other event of the app. The hash only tells apart what has
    /// happened in the same microsecond.
    package var id: String { "\(kind.rawValue)-\(microseconds)-\(Hex.text(FNV1a.hash(subjectName.utf8)))" }

    /// The event of a message without its text; any other event as it is.
    package var withoutText: WebhookEvent {
        guard case .message(var message) = subject else { return self }
        message.text = nil
        var event = self
        event.subject = .message(message)
        return event
    }

    private var subjectName: String {
        switch subject {
        case .user(let account, _, _): account.rawValue
        // Neither accounts nor channels contain a line break.
        case .member(let account, _, let channel, _): "\(account)\n\(channel)"
        case .channel(let channel): channel.rawValue
        case .call(let call): "\(call.id)\n\(call.state.rawValue)"
        case .message(let message): message.name
        }
    }
}

extension WebhookEvent {
    /// The event as webhooks send it (`Docs/webhooks.md`): a JSON object without NUL characters.
    package var json: String {
        let named = [
            JSONMember("id", id), JSONMember("kind", kind.rawValue),
            JSONMember("at", microseconds / 1000),
        ]
        return JSONValue.object(named + details + ids).compactText
    }

    /// The event as the server API's stream of events tells it (`Docs/api.md`), in which its kind is called `event` and
    /// times are whole seconds.
    package var streamed: String {
        let members = [JSONMember("event", kind.rawValue)] + details
        return JSONValue.object(members + [JSONMember("time", microseconds / 1_000_000)]).compactText
    }

    /// The ids of the request, named as in the audit trail. Streams of events do not tell them, because Redis keeps for
    /// half an hour what those tell.
    private var ids: [JSONMember] {
        guard let request else { return [] }
        return [JSONMember("requestId", request.id)] + (request.trace.map { [JSONMember("traceId", $0)] } ?? [])
    }

    private var details: [JSONMember] {
        switch subject {
        case .user(let account, let uid, let reason):
            return Self.user(account, uid) + [Self.reason(reason)]
        case .member(let account, let uid, let channel, let reason):
            return Self.user(account, uid) + [JSONMember("channel", channel.rawValue), Self.reason(reason)]
        case .channel(let channel):
            return [JSONMember("channel", channel.rawValue)]
        case .call(let call):
            let members = [
                JSONMember("call", call.id), JSONMember("state", call.state.rawValue),
                JSONMember("channel", call.channel.rawValue), JSONMember("caller", call.caller),
                JSONMember("callee", call.callee), JSONMember("direction", call.direction),
            ]
            return members + (call.endCode.map { [JSONMember("reason", $0)] } ?? [])
        case .message(let message):
            return message.members
        }
    }

    private static func user(_ account: Account, _ uid: UInt32) -> [JSONMember] {
        [JSONMember("account", account.rawValue), JSONMember("uid", uid)]
    }

    private static func reason(_ reason: SignalingCode) -> JSONMember {
        JSONMember("reason", reason.rawValue)
    }
}

/// A call, as a webhook tells it.
package struct WebhookCall: Equatable, Sendable {
    /// What has become of a call.
    package enum State: String, Sendable, CaseIterable {
        /// The caller has invited the callee.
        case invited
        /// The callee's client or telephone rings.
        case ringing
        /// The callee has accepted.
        case accepted
        /// The call is over, or the invitation has failed.
        case ended
    }

    /// The call's id.
    package var id: String
    /// What has become of it.
    package var state: State
    /// The channel named in the invitation.
    package var channel: ChannelName
    /// The account or telephone that invites.
    package var caller: String
    /// The account or telephone that is invited.
    package var callee: String
    /// `internal`, `outbound` (to a telephone) or `inbound`.
    package var direction: String
    /// Why it ended: 0 for a normal end; nil before.
    package var endCode: Int?

    /// Creates a call that has not ended.
    package init(
        id: String, state: State, channel: ChannelName, caller: String, callee: String, direction: String
    ) {
        self.id = id
        self.state = state
        self.channel = channel
        self.caller = caller
        self.callee = callee
        self.direction = direction
    }
}
