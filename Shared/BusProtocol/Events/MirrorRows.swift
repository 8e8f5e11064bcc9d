package import SignalingProtocol

/// Why a row was written, where an app's servers are told of it; corrections and changes of connections have none.
package struct MirrorCause: Equatable, Sendable, FieldRecord {
    /// What has happened.
    package var kind: WebhookKind
    /// Why; `success` for what has begun.
    package var reason: SignalingCode
    /// True when the channel began with this join; nil otherwise, so that the field is left out.
    package var createsChannel: Bool?
    /// The request of the server API that has caused it; nil for none.
    package var request: EventRequest?

    package init(
        _ kind: WebhookKind, reason: SignalingCode = .success, createsChannel: Bool = false,
        for request: EventRequest? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.createsChannel = createsChannel ? true : nil
        self.request = request
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("cause", \.kind), reason: try fields.field("reason", \.reason))
        createsChannel = try fields.optional("creates", \.createsChannel)
        request = try fields.optionalFields(of: \.request, with: "request")
    }

    /// Webhooks cannot tell what this release has no name for; the copies in PostgreSQL do not need it.
    package static func isUnknown(in reader: FieldReader) -> Bool { WebhookKind.isUnknown("cause", in: reader) }
}

/// A copy of a user's session as it was in Redis at some version.
package struct PresenceMirrorRow: Equatable, Sendable, FieldRecord {
    /// The session's user.
    package var user: UserKey
    /// Increases with every change of the user's session.
    package var version: Int64
    /// Whether the session exists, default true; when it does not, the other fields describe the last one.
    package var present = true
    /// The account's numeric id.
    package var uid: UInt32
    /// The session's id.
    package var session: SessionID
    /// The gateway that holds the session's connection, or last held it.
    package var gateway: GatewayID
    /// The client's `device` field.
    package var device: String
    /// Whether the session currently has no connection; default false.
    package var detached = false
    /// When the session began.
    package var since: RedisTime
    /// That the session has begun or ended; nil for other changes, which webhooks do not tell.
    package var cause: MirrorCause?

    /// Creates the row of a session that exists and has a connection.
    package init(of actor: Actor, version: Int64, gateway: GatewayID, device: String, since: RedisTime) {
        user = actor.user
        uid = actor.uid
        session = actor.session
        self.version = version
        self.gateway = gateway
        self.device = device
        self.since = since
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let user = try fields.fields(of: \.user)
        let version = try fields.field("version", \.version)
        let present = try fields.field("present", \.present)
        let actor = Actor(
            user: user, uid: try fields.field("uid", \.uid), session: try fields.field("session", \.session))
        self.init(
            of: actor, version: version,
            gateway: try fields.field("gateway", \.gateway),
            device: try fields.field("device", \.device),
            since: try fields.field("since", \.since))
        self.present = present
        detached = try fields.field("detached", \.detached)
        cause = try fields.optionalFields(of: \.cause, with: "cause")
    }
}

/// A copy of a channel membership as it was in Redis at some version.
package struct MemberMirrorRow: Equatable, Sendable, FieldRecord {
    /// The channel of the membership.
    package var channel: ChannelKey
    /// The member's account.
    package var account: Account
    /// Increases with every change of the channel's members.
    package var version: Int64
    /// Whether the account is a member.
    package var present: Bool
    /// The account's numeric id.
    package var uid: UInt32
    /// When the account joined.
    package var joinedAt: RedisTime
    /// That the account has joined or left; nil for corrections, which webhooks do not tell.
    package var cause: MirrorCause?

    package init(of member: Member, in channel: ChannelKey, version: Int64, present: Bool, joinedAt: RedisTime) {
        self.channel = channel
        account = member.account
        uid = member.uid
        self.version = version
        self.present = present
        self.joinedAt = joinedAt
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let channel = try fields.fields(of: \.channel)
        let member = Member(
            account: try fields.field("account", \.account), uid: try fields.field("uid", \.uid))
        self.init(
            of: member, in: channel,
            version: try fields.field("version", \.version),
            present: try fields.field("present", \.present),
            joinedAt: try fields.field("joined", \.joinedAt))
        cause = try fields.optionalFields(of: \.cause, with: "cause")
    }
}

/// The end of a channel, which no copy records: only webhooks tell it.
package struct ChannelEndRow: Equatable, Sendable, FieldRecord {
    /// The level from which processes know the row.
    package static let level: Int64 = 2

    /// The channel that has ended.
    package var channel: ChannelKey
    /// When, in microseconds of Redis' clock.
    package var ended: Int64

    package init(_ channel: ChannelKey, ended: Int64) {
        self.channel = channel
        self.ended = ended
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.channel), ended: try fields.field("ended", \.ended))
    }
}

/// A change of a channel.
package enum ChannelMirrorRow: Equatable, Sendable, FieldCodable {
    /// A membership has begun or ended, or is corrected.
    case member(MemberMirrorRow)
    /// The channel has ended.
    case end(ChannelEndRow)

    package func write(to writer: inout FieldWriter) {
        switch self {
        case .member(let row): row.write(to: &writer)
        case .end(let row): row.write(to: &writer)
        }
    }

    /// Reads a row; only an end has the field `ended`.
    package init(from reader: FieldReader) throws(SignalingError) {
        self =
            reader.optionalString("ended") == nil
            ? .member(try MemberMirrorRow(from: reader)) : .end(try ChannelEndRow(from: reader))
    }
}

/// A message that webhooks or streams of events tell, which no copy records.
package struct MessageMirrorRow: Equatable, Sendable, FieldRecord {
    /// The app.
    package var app: AppID
    /// When it was sent, in microseconds of Redis' clock.
    package var sent: Int64
    /// The message.
    package var message: WebhookMessage
    /// How the server API's streams of events tell of it; nil when they do not.
    package var stream: MessageDetail?
    /// The request of the server API that has sent it; nil for none.
    package var request: EventRequest?

    package init(
        _ message: WebhookMessage, in app: AppID, sent: Int64, stream: MessageDetail? = nil,
        for request: EventRequest? = nil
    ) {
        self.app = app
        self.sent = sent
        self.message = message
        self.stream = stream
        self.request = request
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let (app, sent) = (try fields.field("app", \.app), try fields.field("sent", \.sent))
        let sender = try fields.field("from", \.message.sender)
        let receiver: WebhookMessage.Receiver =
            if let account = try fields.optional("to", \.account) {
                .user(account, isOnline: try fields.own("online", \.isOnline))
            } else {
                .channel(try fields.own("channel", \.channel))
            }
        let message = WebhookMessage(
            from: sender, to: receiver, number: try fields.field("number", \.message.number),
            size: try fields.field("size", \.message.size), text: try fields.optional("text", \.message.text))
        self.init(
            message, in: app, sent: sent, stream: try fields.optional("stream", \.stream),
            for: try fields.optionalFields(of: \.request, with: "request"))
    }

    private var account: Account? {
        if case .user(let account, _) = message.receiver { account } else { nil }
    }

    private var isOnline: Bool? {
        if case .user(_, let isOnline) = message.receiver { isOnline } else { nil }
    }

    private var channel: ChannelName? {
        if case .channel(let channel) = message.receiver { channel } else { nil }
    }

    /// What webhooks tell.
    package var webhookEvent: WebhookEvent {
        WebhookEvent(.message, in: app, at: sent, .message(message), for: request)
    }

    /// What the server API's streams of events tell; nil for nothing.
    package var streamedEvent: WebhookEvent? {
        guard let stream else { return nil }
        return stream == .withText ? webhookEvent : webhookEvent.withoutText
    }
}

extension PresenceMirrorRow {
    /// What webhooks tell; nil for nothing.
    package var webhookEvent: WebhookEvent? {
        cause.map {
            WebhookEvent(
                $0.kind, in: user.app, at: version, .user(user.account, uid: uid, reason: $0.reason), for: $0.request)
        }
    }
}

extension ChannelMirrorRow {
    /// What webhooks tell, in order. Not of the special channels, in which an app's servers are.
    package var webhookEvents: [WebhookEvent] {
        switch self {
        case .member(let row):
            guard let cause = row.cause, row.channel.name.special == nil else { return [] }
            let (app, channel) = (row.channel.app, row.channel.name)
            let change = WebhookEvent(
                cause.kind, in: app, at: row.version,
                .member(row.account, uid: row.uid, channel: channel, reason: cause.reason), for: cause.request)
            guard cause.createsChannel == true else { return [change] }
            // Just before the join, and after all that happened before.
            return [WebhookEvent(.channelCreated, in: app, at: row.version - 1, .channel(channel)), change]
        case .end(let row):
            return [WebhookEvent(.channelDestroyed, in: row.channel.app, at: row.ended, .channel(row.channel.name))]
        }
    }
}
