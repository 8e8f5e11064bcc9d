package import SignalingProtocol

/// Reports the sessions that a gateway holds, after Redis did not answer or has lost data. Sessions that Redis does not
/// know are recorded again, and detached ones attached; the reply names those that the gateway does not hold any more.
package struct ReassertSessions: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "session.reassert"
    /// True: it keeps sessions alive.
    package var isVital: Bool { true }
    /// The outcome for each session.
    package typealias Reply = SessionsReasserted
    /// The gateway that holds the sessions.
    package var gateway: GatewayID
    /// At most 250 sessions.
    package var sessions: [HeldSession]

    /// The first session; others may be elsewhere, which costs no more than a way to another server.
    package var subject: Subject { sessions.first.map { .user($0.line.user) } ?? .gateway(gateway) }

    package init(gateway: GatewayID, sessions: [HeldSession]) {
        self.gateway = gateway
        self.sessions = sessions
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            gateway: try fields.field("gateway", \.gateway),
            sessions: try fields.list("sessions", \.sessions))
    }
}

/// A session's state as its gateway knows it.
package struct HeldSession: Equatable, Sendable, FieldRecord {
    /// The session's line.
    package var line: Line
    /// The account's numeric id.
    package var uid: UInt32
    /// The client's `device` field.
    package var device: String
    /// Whether the client takes pushed mailbox entries.
    package var push: Bool
    /// When the login's token expires, in Unix seconds; default 0: there was none.
    package var tokenExpiry: Int64
    /// When the session was opened, and the gateway's claim on it.
    package var hold = SessionHold()
    /// The channel that the session is in; default none.
    package var place = HeldPlace()
    /// The IP address that the client connects from, or did before its connection was lost, as in
    /// ``OpenSession/address``.
    package var address: String?

    package init(line: Line, uid: UInt32, device: String, push: Bool, tokenExpiry: Int64 = 0) {
        self.line = line
        self.uid = uid
        self.device = device
        self.push = push
        self.tokenExpiry = tokenExpiry
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            line: try fields.field("line", \.line),
            uid: try fields.field("uid", \.uid),
            device: try fields.field("device", \.device),
            push: try fields.field("push", \.push),
            tokenExpiry: try fields.field("expires", \.tokenExpiry))
        hold = try fields.fields(of: \.hold)
        place = try fields.fields(of: \.place)
        address = try fields.optional("address", \.address)
    }
}

/// The channel that a session is in, as far as its gateway knows.
package struct HeldPlace: Equatable, Sendable, FieldRecord {
    /// The number of the session's last join or leave.
    package var moveNumber: Int64
    /// The channel; nil for none.
    package var channel: ChannelName?
    /// False while a join or a leave is in progress, or when its outcome is unknown.
    package var isSettled: Bool

    package init(moveNumber: Int64 = 0, channel: ChannelName? = nil, isSettled: Bool = true) {
        self.moveNumber = moveNumber
        self.channel = channel
        self.isSettled = isSettled
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            moveNumber: try fields.field("turn", \.moveNumber),
            channel: try fields.optional("channel", \.channel),
            isSettled: try fields.field("settled", \.isSettled))
    }
}

/// The outcome of a ``ReassertSessions``.
package struct SessionsReasserted: Equatable, Sendable, FieldRecord {
    /// A session that the gateway still holds.
    package struct Held: Equatable, Sendable {
        package var session: SessionID
        /// The last version that was assigned in the user's mailbox.
        package var mailbox: Int64

        package init(session: SessionID, mailbox: Int64) {
            self.session = session
            self.mailbox = mailbox
        }
    }

    /// A session that the gateway does not hold any more.
    package struct Lost: Equatable, Sendable {
        package var session: SessionID
        /// The code with which to close its client: ``SignalingCode/logoutKicked`` for a newer login,
        /// ``SignalingCode/logoutNetwork`` when the cluster has lost the session, or another logout code. Nil when
        /// another gateway holds the session; the connection is then closed without a `close` frame.
        package var code: SignalingCode?

        package init(session: SessionID, code: SignalingCode?) {
            self.session = session
            self.code = code
        }
    }

    /// The sessions that the gateway still holds.
    package var held: [Held]
    /// The sessions that it does not hold any more.
    package var lost: [Lost]

    package init(held: [Held], lost: [Lost]) {
        self.held = held
        self.lost = lost
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(held: try fields.list("held", \.held), lost: try fields.list("lost", \.lost))
    }
}

extension SessionsReasserted.Held: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            session: try fields.field("session", \.session),
            mailbox: try fields.field("mailbox", \.mailbox))
    }
}

extension SessionsReasserted.Lost: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(session: try fields.field("session", \.session), code: nil)
        let written = try fields.field("code", \.writtenCode)
        code = written == .success ? nil : written
    }

    /// Success is written for nil, because no session is ever closed with that code.
    private var writtenCode: SignalingCode { code ?? .success }
}

/// Reports the members of a channel that a gateway holds, after Redis did not answer or has lost data. Missing ones
/// become members again, without an announcement. Their sessions must be reasserted first, because a session's record
/// decides whether it is in the channel.
package struct ReassertMembers: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.reassert"
    /// True: it keeps members in their channels.
    package var isVital: Bool { true }
    /// The sessions that must be reasserted first.
    package typealias Reply = MembersReasserted
    package var channel: ChannelKey
    /// At most 250 members.
    package var members: [HeldMember]

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, members: [HeldMember]) {
        self.channel = channel
        self.members = members
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), members: try fields.list("members", \.members))
    }
}

/// A member with its session.
package struct HeldMember: Equatable, Sendable, FieldRecord {
    package var member: Member
    /// The session by which the account is a member.
    package var session: SessionID

    package init(member: Member, session: SessionID) {
        self.member = member
        self.session = session
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(member: try fields.fields(of: \.member), session: try fields.field("session", \.session))
    }
}

/// The outcome of a ``ReassertMembers``.
package struct MembersReasserted: Equatable, Sendable, FieldRecord {
    /// Sessions that Redis does not know, or has in no or another channel. They must be reasserted, and then their
    /// members again.
    package var unknown: [SessionID]

    package init(unknown: [SessionID]) { self.unknown = unknown }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(unknown: try fields.repeated("unknown", \.unknown))
    }
}

/// Removes a member whose leave Redis has lost. Nothing is announced, because the leave was announced when it happened.
package struct ForgetMember: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.forget"
    package typealias Reply = Done
    package var actor: Actor
    package var channel: ChannelName

    package var subject: Subject { .channel(ChannelKey(app: actor.user.app, name: channel)) }

    package init(actor: Actor, channel: ChannelName) {
        self.actor = actor
        self.channel = channel
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(actor: try fields.fields(of: \.actor), channel: try fields.field("channel", \.channel))
    }
}
