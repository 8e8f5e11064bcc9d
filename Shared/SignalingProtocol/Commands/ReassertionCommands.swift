/// Tells what a gateway holds, after Redis was away or forgot it: sessions that Redis does not know are recorded again,
/// detached ones are attached, and those that the gateway has no longer are named in the answer.
package struct ReassertSessions: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `session.reassert`.
    package static let operation = "session.reassert"
    /// Keeps sessions alive.
    package var isVital: Bool { true }
    /// What became of each.
    package typealias Reply = SessionsReasserted
    /// The gateway that holds them.
    package var gateway: GatewayID
    /// At most 250.
    package var sessions: [HeldSession]

    /// Reasserts `sessions`.
    package init(gateway: GatewayID, sessions: [HeldSession]) {
        self.gateway = gateway
        self.sessions = sessions
    }
}

/// A session as its gateway knows it.
package struct HeldSession: Equatable, Sendable {
    /// Its line.
    package var line: Line
    /// The account's number.
    package var uid: UInt32
    /// The client's `device` field.
    package var device: String
    /// Whether the client takes pushed mailbox entries.
    package var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    package var tokenExpiry: Int64
    /// When it was opened, and by which claim the gateway has it.
    package var hold: SessionHold
    /// The channel it is in.
    package var place: HeldPlace

    /// Makes the record.
    package init(
        line: Line, uid: UInt32, device: String, push: Bool, tokenExpiry: Int64 = 0, hold: SessionHold = SessionHold(),
        place: HeldPlace = HeldPlace()
    ) {
        self.line = line
        self.uid = uid
        self.device = device
        self.push = push
        self.tokenExpiry = tokenExpiry
        self.hold = hold
        self.place = place
    }
}

/// In which channel a session is, as its gateway knows.
package struct HeldPlace: Equatable, Sendable {
    /// The number of its last join or leave.
    package var turn: Int64
    /// The channel; nil for none.
    package var channel: ChannelName?
    /// Whether the gateway knows: false while a join or a leave is not answered, and when its outcome is unknown.
    package var isSettled: Bool

    /// Makes the record.
    package init(turn: Int64 = 0, channel: ChannelName? = nil, isSettled: Bool = true) {
        self.turn = turn
        self.channel = channel
        self.isSettled = isSettled
    }
}

/// What became of reasserted sessions.
package struct SessionsReasserted: Equatable, Sendable {
    /// A session that is its gateway's.
    package struct Held: Equatable, Sendable {
        /// Which.
        package var session: SessionID
        /// The last version given in its user's mailbox.
        package var mailbox: Int64

        /// Makes the record.
        package init(session: SessionID, mailbox: Int64) {
            self.session = session
            self.mailbox = mailbox
        }
    }

    /// A session that is its gateway's no longer.
    package struct Lost: Equatable, Sendable {
        /// Which.
        package var session: SessionID
        /// Why its client is closed: ``SignalingCode/logoutKicked`` for a newer login, ``SignalingCode/logoutNetwork`` when the
        /// cluster lost it, and other codes of logouts; nil when another gateway has it: nobody is told.
        package var code: SignalingCode?

        /// Makes the record.
        package init(session: SessionID, code: SignalingCode?) {
            self.session = session
            self.code = code
        }
    }

    /// Those that are its.
    package var held: [Held]
    /// The others.
    package var lost: [Lost]

    /// Makes the answer.
    package init(held: [Held], lost: [Lost]) {
        self.held = held
        self.lost = lost
    }
}

/// Tells which of a channel's members a gateway holds, after Redis was away or forgot them: missing ones are members again,
/// without an announcement. Their sessions are to be reasserted first: only who is in the channel by its session's record
/// is made a member.
package struct ReassertMembers: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.reassert`.
    package static let operation = "channel.reassert"
    /// Keeps members in their channels.
    package var isVital: Bool { true }
    /// Which of them Redis does not know.
    package typealias Reply = MembersReasserted
    /// Which channel.
    package var channel: ChannelKey
    /// At most 250.
    package var members: [HeldMember]

    /// Reasserts `members`.
    package init(channel: ChannelKey, members: [HeldMember]) {
        self.channel = channel
        self.members = members
    }
}

/// A member as its gateway knows it.
package struct HeldMember: Equatable, Sendable {
    /// Who.
    package var member: Member
    /// By which session.
    package var session: SessionID

    /// Makes the record.
    package init(member: Member, session: SessionID) {
        self.member = member
        self.session = session
    }
}

/// Members were reasserted.
package struct MembersReasserted: Equatable, Sendable {
    /// Sessions that Redis does not know, or not in the channel: to be reasserted, and then the member again.
    package var unknown: [SessionID]

    /// Makes the answer.
    package init(unknown: [SessionID]) { self.unknown = unknown }
}

/// A session is not in a channel, though Redis, which has forgotten its leave, says so: it is no member any more, without an
/// announcement: others heard of it when it left.
package struct ForgetMember: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.forget`.
    package static let operation = "channel.forget"
    /// Nothing.
    package typealias Reply = Done
    /// Who.
    package var actor: Actor
    /// Which channel.
    package var channel: ChannelName

    /// Forgets `actor`.
    package init(actor: Actor, channel: ChannelName) {
        self.actor = actor
        self.channel = channel
    }
}
