/// Who acts in a channel.
package struct Actor: Equatable, Sendable {
    /// The user.
    package var user: UserKey
    /// The account's number.
    package var uid: UInt32
    /// The session that acts.
    package var session: SessionID

    /// Makes the record.
    package init(user: UserKey, uid: UInt32, session: SessionID) {
        self.user = user
        self.uid = uid
        self.session = session
    }
}

/// Joins a channel, leaving the one that the session was in.
package struct JoinChannel: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.join`.
    package static let operation = "channel.join"
    /// What the join answer tells.
    package typealias Reply = ChannelJoined
    /// Who joins.
    package var actor: Actor
    /// Which channel of the actor's app.
    package var channel: ChannelName
    /// Numbers the session's joins and leaves; 0: not numbered.
    package var turn: Int64

    /// Joins `channel`.
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
    /// The `channel2` id of the join: what a client that resumes before it saw an event gives as `after`.
    package var id: Int64
    /// The latest members, the joiner among them.
    package var members: LatestMembers
    /// The channel's attributes.
    package var attributes: [Attribute]

    /// Makes the answer.
    package init(sequence: Int64, id: Int64, members: LatestMembers, attributes: [Attribute]) {
        self.sequence = sequence
        self.id = id
        self.members = members
        self.attributes = attributes
    }
}

/// Leaves a channel. No effect unless that session is the member.
package struct LeaveChannel: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.leave`.
    package static let operation = "channel.leave"
    /// Frees memory.
    package var isVital: Bool { true }
    /// Nothing.
    package typealias Reply = Done
    /// Who leaves.
    package var actor: Actor
    /// Which channel.
    package var channel: ChannelName
    /// Why: one of the 600s.
    package var reason: SignalingCode
    /// Numbers the session's joins and leaves; 0: not numbered.
    package var turn: Int64

    /// Leaves `channel`.
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
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.attribute.change`.
    package static let operation = "channel.attribute.change"
    /// Nothing.
    package typealias Reply = Done
    /// Who changes them.
    package var actor: Actor
    /// Of which channel.
    package var channel: ChannelName
    /// The change.
    package var change: AttributeChange
    /// Changes of the channel's attributes that its app allows in a second.
    package var limitPerSecond: Int

    /// Applies `change`.
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
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.count`.
    package static let operation = "channel.count"
    /// The number.
    package typealias Reply = MemberCount
    /// Which channel.
    package var channel: ChannelKey

    /// Asks about `channel`.
    package init(channel: ChannelKey) { self.channel = channel }
}

/// How many members a channel has.
package struct MemberCount: Equatable, Sendable {
    /// Zero for a channel that does not exist.
    package var count: Int

    /// Makes the answer.
    package init(count: Int) { self.count = count }
}

/// Asks whether a user is in a channel.
package struct QueryMember: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.contains`.
    package static let operation = "channel.contains"
    /// The answer.
    package typealias Reply = MemberStatus
    /// Which channel.
    package var channel: ChannelKey
    /// Whom.
    package var account: Account

    /// Asks about `account`.
    package init(channel: ChannelKey, account: Account) {
        self.channel = channel
        self.account = account
    }
}

/// Whether a user is in a channel.
package struct MemberStatus: Equatable, Sendable {
    /// True for members.
    package var isMember: Bool

    /// Makes the answer.
    package init(isMember: Bool) { self.isMember = isMember }
}

/// Asks for a channel's members.
package struct ListMembers: ServiceCommand {
    /// channel-state.
    package static let service = ServiceName.channelState
    /// `channel.members`.
    package static let operation = "channel.members"
    /// The list.
    package typealias Reply = MemberList
    /// Which channel.
    package var channel: ChannelKey
    /// How many of the latest.
    package var limit: Int

    /// Asks for the latest `limit` members.
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

    /// Makes the answer.
    package init(total: Int, members: [Member]) {
        self.total = total
        self.members = members
    }
}
