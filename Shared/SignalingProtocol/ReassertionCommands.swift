/// Tells what a gateway holds, after Redis was away or forgot it: sessions that Redis does not know are recorded again,
/// detached ones are attached, and those that the gateway has no longer are named in the answer.
public struct ReassertSessions: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `session.reassert`.
    public static let operation = "session.reassert"
    /// Keeps sessions alive.
    public var isVital: Bool { true }
    /// What became of each.
    public typealias Reply = SessionsReasserted
    /// The gateway that holds them.
    public var gateway: GatewayID
    /// At most 250.
    public var sessions: [HeldSession]

    /// Reasserts `sessions`.
    public init(gateway: GatewayID, sessions: [HeldSession]) {
        self.gateway = gateway
        self.sessions = sessions
    }
}

/// A session as its gateway knows it.
public struct HeldSession: Equatable, Sendable {
    /// Its line.
    public var line: Line
    /// The account's number.
    public var uid: UInt32
    /// The client's `device` field.
    public var device: String
    /// Whether the client takes pushed mailbox entries.
    public var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    public var tokenExpiry: Int64
    /// When it was opened, and by which claim the gateway has it.
    public var hold: SessionHold
    /// The channel it is in.
    public var place: HeldPlace

    /// Makes the record.
    public init(
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
public struct HeldPlace: Equatable, Sendable {
    /// The number of its last join or leave.
    public var turn: Int64
    /// The channel; nil for none.
    public var channel: ChannelName?
    /// Whether the gateway knows: false while a join or a leave is not answered, and when its outcome is unknown.
    public var isSettled: Bool

    /// Makes the record.
    public init(turn: Int64 = 0, channel: ChannelName? = nil, isSettled: Bool = true) {
        self.turn = turn
        self.channel = channel
        self.isSettled = isSettled
    }
}

/// What became of reasserted sessions.
public struct SessionsReasserted: Equatable, Sendable {
    /// A session that is its gateway's.
    public struct Held: Equatable, Sendable {
        /// Which.
        public var session: SessionID
        /// The last version given in its user's mailbox.
        public var mailbox: Int64

        /// Makes the record.
        public init(session: SessionID, mailbox: Int64) {
            self.session = session
            self.mailbox = mailbox
        }
    }

    /// A session that is its gateway's no longer.
    public struct Lost: Equatable, Sendable {
        /// Which.
        public var session: SessionID
        /// Why its client is closed: ``SignalingCode/logoutKicked`` for a newer login, ``SignalingCode/logoutNetwork`` when the
        /// cluster lost it, and other codes of logouts; nil when another gateway has it: nobody is told.
        public var code: SignalingCode?

        /// Makes the record.
        public init(session: SessionID, code: SignalingCode?) {
            self.session = session
            self.code = code
        }
    }

    /// Those that are its.
    public var held: [Held]
    /// The others.
    public var lost: [Lost]

    /// Makes the answer.
    public init(held: [Held], lost: [Lost]) {
        self.held = held
        self.lost = lost
    }
}

/// Tells which of a channel's members a gateway holds, after Redis was away or forgot them: missing ones are members again,
/// without an announcement. Their sessions are to be reasserted first: only who is in the channel by its session's record
/// is made a member.
public struct ReassertMembers: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.reassert`.
    public static let operation = "channel.reassert"
    /// Keeps members in their channels.
    public var isVital: Bool { true }
    /// Which of them Redis does not know.
    public typealias Reply = MembersReasserted
    /// Which channel.
    public var channel: ChannelKey
    /// At most 250.
    public var members: [HeldMember]

    /// Reasserts `members`.
    public init(channel: ChannelKey, members: [HeldMember]) {
        self.channel = channel
        self.members = members
    }
}

/// A member as its gateway knows it.
public struct HeldMember: Equatable, Sendable {
    /// Who.
    public var member: Member
    /// By which session.
    public var session: SessionID

    /// Makes the record.
    public init(member: Member, session: SessionID) {
        self.member = member
        self.session = session
    }
}

/// Members were reasserted.
public struct MembersReasserted: Equatable, Sendable {
    /// Sessions that Redis does not know, or not in the channel: to be reasserted, and then the member again.
    public var unknown: [SessionID]

    /// Makes the answer.
    public init(unknown: [SessionID]) { self.unknown = unknown }
}

/// A session is not in a channel, though Redis, which has forgotten its leave, says so: it is no member any more, without an
/// announcement: others heard of it when it left.
public struct ForgetMember: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.forget`.
    public static let operation = "channel.forget"
    /// Nothing.
    public typealias Reply = Done
    /// Who.
    public var actor: Actor
    /// Which channel.
    public var channel: ChannelName

    /// Forgets `actor`.
    public init(actor: Actor, channel: ChannelName) {
        self.actor = actor
        self.channel = channel
    }
}
