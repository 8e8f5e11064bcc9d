/// The session that acts in a channel, and its user.
package struct Actor: Equatable, Sendable {
    /// The user.
    package var user: UserKey
    /// The account's number.
    package var uid: UInt32
    /// The session that acts.
    package var session: SessionID

    package init(user: UserKey, uid: UInt32, session: SessionID) {
        self.user = user
        self.uid = uid
        self.session = session
    }
}

/// Joins a channel, leaving the one that the session was in.
package struct JoinChannel: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.join"
    /// The channel's state at the join.
    package typealias Reply = ChannelJoined
    /// Who joins.
    package var actor: Actor
    /// Which channel of the actor's app.
    package var channel: ChannelName
    /// The number of this join or leave within the session, so that a late one is recognised; 0: not numbered.
    package var turn: Int64

    package init(actor: Actor, channel: ChannelName, turn: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.turn = turn
    }
}

/// A channel was joined.
package struct ChannelJoined: Equatable, Sendable {
    /// The channel's sequence number at the join: the joiner is shown the events above it.
    package var sequence: Int64
    /// The `channel2` id of the join. A client that resumes before it has seen an event sends this as `after`.
    package var id: Int64
    /// The latest members, the joiner among them.
    package var members: LatestMembers
    /// The channel's attributes.
    package var attributes: [Attribute]

    package init(sequence: Int64, id: Int64, members: LatestMembers, attributes: [Attribute]) {
        self.sequence = sequence
        self.id = id
        self.members = members
        self.attributes = attributes
    }
}

/// Leaves a channel. Has no effect when another session of the account is the member.
package struct LeaveChannel: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.leave"
    /// Frees memory.
    package var isVital: Bool { true }
    package typealias Reply = Done
    /// Who leaves.
    package var actor: Actor
    package var channel: ChannelName
    /// The reason for leaving, one of the codes 600 to 699.
    package var reason: SignalingCode
    /// The number of this join or leave within the session, so that a late one is recognised; 0: not numbered.
    package var turn: Int64

    package init(actor: Actor, channel: ChannelName, reason: SignalingCode, turn: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.reason = reason
        self.turn = turn
    }
}

/// Changes a channel's attributes; answered after the change is committed in PostgreSQL. The actor need not be a member, but
/// its session must be the account's present one, at the asking gateway.
package struct ChangeChannelAttributes: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.attribute.change"
    package typealias Reply = Done
    /// Who changes them.
    package var actor: Actor
    /// Of which channel.
    package var channel: ChannelName
    /// The change.
    package var change: AttributeChange
    /// Changes of the channel's attributes that its app allows in a second.
    package var limitPerSecond: Int

    package init(
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
package enum AttributeChange: Equatable, Sendable {
    /// Sets one.
    case update(Attribute)
    /// Deletes one.
    case delete(AttributeName)
    /// Deletes all.
    case clear
}

/// Asks how many members a channel has.
package struct CountMembers: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.count"
    package typealias Reply = MemberCount
    package var channel: ChannelKey

    package init(channel: ChannelKey) { self.channel = channel }
}

/// How many members a channel has.
package struct MemberCount: Equatable, Sendable {
    /// Zero for a channel that does not exist.
    package var count: Int

    package init(count: Int) { self.count = count }
}

/// Asks whether a user is in a channel.
package struct QueryMember: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.contains"
    package typealias Reply = MemberStatus
    package var channel: ChannelKey
    package var account: Account

    package init(channel: ChannelKey, account: Account) {
        self.channel = channel
        self.account = account
    }
}

/// Whether a user is in a channel.
package struct MemberStatus: Equatable, Sendable {
    /// Whether the account is a member.
    package var isMember: Bool

    package init(isMember: Bool) { self.isMember = isMember }
}

/// Asks for a channel's members.
package struct ListMembers: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.members"
    package typealias Reply = MemberList
    package var channel: ChannelKey
    /// The most members to list, the latest first.
    package var limit: Int

    package init(channel: ChannelKey, limit: Int) {
        self.channel = channel
        self.limit = limit
    }
}

/// A channel's members.
package struct MemberList: Equatable, Sendable {
    /// How many there are in all.
    package var total: Int
    /// The latest, newest first.
    package var members: [Member]

    package init(total: Int, members: [Member]) {
        self.total = total
        self.members = members
    }
}
