/// Who acts in a channel.
public struct Actor: Equatable, Sendable {
    /// The user.
    public var user: UserKey
    /// The account's number.
    public var uid: UInt32
    /// The session that acts.
    public var session: SessionID

    /// Makes the record.
    public init(user: UserKey, uid: UInt32, session: SessionID) {
        self.user = user
        self.uid = uid
        self.session = session
    }
}

/// Joins a channel, leaving the one that the session was in.
public struct JoinChannel: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.join`.
    public static let operation = "channel.join"
    /// What the join answer tells.
    public typealias Reply = ChannelJoined
    /// Who joins.
    public var actor: Actor
    /// Which channel of the actor's app.
    public var channel: ChannelName
    /// Numbers the session's joins and leaves; 0: not numbered.
    public var turn: Int64

    /// Joins `channel`.
    public init(actor: Actor, channel: ChannelName, turn: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.turn = turn
    }
}

/// A channel was joined.
public struct ChannelJoined: Equatable, Sendable {
    /// The channel's sequence number at the join: the joiner is shown the events above it.
    public var sequence: Int64
    /// The `channel2` id of the join: what a client that resumes before it saw an event gives as `after`.
    public var id: Int64
    /// The latest members, the joiner among them.
    public var members: LatestMembers
    /// The channel's attributes.
    public var attributes: [Attribute]

    /// Makes the answer.
    public init(sequence: Int64, id: Int64, members: LatestMembers, attributes: [Attribute]) {
        self.sequence = sequence
        self.id = id
        self.members = members
        self.attributes = attributes
    }
}

/// Leaves a channel. No effect unless that session is the member.
public struct LeaveChannel: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.leave`.
    public static let operation = "channel.leave"
    /// Frees memory.
    public var isVital: Bool { true }
    /// Nothing.
    public typealias Reply = Done
    /// Who leaves.
    public var actor: Actor
    /// Which channel.
    public var channel: ChannelName
    /// Why: one of the 600s.
    public var reason: SignalingCode
    /// Numbers the session's joins and leaves; 0: not numbered.
    public var turn: Int64

    /// Leaves `channel`.
    public init(actor: Actor, channel: ChannelName, reason: SignalingCode, turn: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.reason = reason
        self.turn = turn
    }
}

/// Changes a channel's attributes; answered after the change is committed in PostgreSQL. The actor need not be a member, but
/// its session must be the account's present one, at the asking gateway.
public struct ChangeChannelAttributes: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.attribute.change`.
    public static let operation = "channel.attribute.change"
    /// Nothing.
    public typealias Reply = Done
    /// Who changes them.
    public var actor: Actor
    /// Of which channel.
    public var channel: ChannelName
    /// The change.
    public var change: AttributeChange
    /// Changes of the channel's attributes that its app allows in a second.
    public var limitPerSecond: Int

    /// Applies `change`.
    public init(
        actor: Actor, channel: ChannelName, change: AttributeChange,
        limitPerSecond: Int = Limits.channelAttributeChangesPerSecond
    ) {
        self.actor = actor
        self.channel = channel
        self.change = change
        self.limitPerSecond = limitPerSecond
    }
}

/// One change of a set of attributes.
public enum AttributeChange: Equatable, Sendable {
    /// Sets one.
    case update(Attribute)
    /// Deletes one.
    case delete(AttributeName)
    /// Deletes all.
    case clear
}

/// Asks how many members a channel has.
public struct CountMembers: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.count`.
    public static let operation = "channel.count"
    /// The number.
    public typealias Reply = MemberCount
    /// Which channel.
    public var channel: ChannelKey

    /// Asks about `channel`.
    public init(channel: ChannelKey) { self.channel = channel }
}

/// How many members a channel has.
public struct MemberCount: Equatable, Sendable {
    /// Zero for a channel that does not exist.
    public var count: Int

    /// Makes the answer.
    public init(count: Int) { self.count = count }
}

/// Asks whether a user is in a channel.
public struct QueryMember: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.contains`.
    public static let operation = "channel.contains"
    /// The answer.
    public typealias Reply = MemberStatus
    /// Which channel.
    public var channel: ChannelKey
    /// Whom.
    public var account: Account

    /// Asks about `account`.
    public init(channel: ChannelKey, account: Account) {
        self.channel = channel
        self.account = account
    }
}

/// Whether a user is in a channel.
public struct MemberStatus: Equatable, Sendable {
    /// True for members.
    public var isMember: Bool

    /// Makes the answer.
    public init(isMember: Bool) { self.isMember = isMember }
}

/// Asks for a channel's members.
public struct ListMembers: ServiceCommand {
    /// channel-state.
    public static let service = ServiceName.channelState
    /// `channel.members`.
    public static let operation = "channel.members"
    /// The list.
    public typealias Reply = MemberList
    /// Which channel.
    public var channel: ChannelKey
    /// How many of the latest.
    public var limit: Int

    /// Asks for the latest `limit` members.
    public init(channel: ChannelKey, limit: Int) {
        self.channel = channel
        self.limit = limit
    }
}

/// A channel's members.
public struct MemberList: Equatable, Sendable {
    /// How many there are in all.
    public var total: Int
    /// The latest, newest first.
    public var members: [Member]

    /// Makes the answer.
    public init(total: Int, members: [Member]) {
        self.total = total
        self.members = members
    }
}
