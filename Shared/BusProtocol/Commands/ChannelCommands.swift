package import SignalingProtocol

/// The session on whose behalf a command acts, and its user.
package struct Actor: Equatable, Sendable, FieldRecord {
    /// The user.
    package var user: UserKey
    /// The account's numeric id.
    package var uid: UInt32
    /// The session.
    package var session: SessionID

    package init(user: UserKey, uid: UInt32, session: SessionID) {
        self.user = user
        self.uid = uid
        self.session = session
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            uid: try fields.field("uid", \.uid),
            session: try fields.field("session", \.session))
    }
}

/// Joins a channel, leaving the one that the session was in.
package struct JoinChannel: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.join"
    /// The channel's state at the join.
    package typealias Reply = ChannelJoined
    /// The user and session that join.
    package var actor: Actor
    /// The channel, in the actor's app.
    package var channel: ChannelName
    /// The number of this join or leave within the session, by which a late one is recognised; 0 when it has none.
    /// Named `turn` on the bus and in Redis.
    package var moveNumber: Int64

    package var subject: Subject { .channel(ChannelKey(app: actor.user.app, name: channel)) }

    package init(actor: Actor, channel: ChannelName, moveNumber: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.moveNumber = moveNumber
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            moveNumber: try fields.field("turn", \.moveNumber))
    }
}

/// The result of joining a channel.
package struct ChannelJoined: Equatable, Sendable, FieldRecord {
    /// The channel's sequence number at the join: the joiner receives the events above it.
    package var sequence: Int64
    /// The `channel2` id of the join. A client that resumes before it has received an event sends this id as `after`.
    package var id: Int64
    /// The latest members, the joiner included.
    package var members: LatestMembers
    /// The channel's attributes.
    package var attributes: [Attribute]

    package init(sequence: Int64, id: Int64, members: LatestMembers, attributes: [Attribute]) {
        self.sequence = sequence
        self.id = id
        self.members = members
        self.attributes = attributes
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            sequence: try fields.field("sequence", \.sequence),
            id: try fields.field("event", \.id),
            members: try fields.field("latest", \.members),
            attributes: try fields.list("attributes", \.attributes))
    }
}

/// Leaves a channel. Has no effect when the account is a member by another session.
package struct LeaveChannel: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.leave"
    /// True: it frees memory.
    package var isVital: Bool { true }
    package typealias Reply = ChannelLeft
    /// The user and session that leave.
    package var actor: Actor
    package var channel: ChannelName
    /// The reason, one of the codes 600 to 699.
    package var reason: SignalingCode
    /// The number of this join or leave within the session, by which a late one is recognised; 0 when it has none.
    /// Named `turn` on the bus and in Redis.
    package var moveNumber: Int64

    package var subject: Subject { .channel(ChannelKey(app: actor.user.app, name: channel)) }

    package init(actor: Actor, channel: ChannelName, reason: SignalingCode, moveNumber: Int64 = 0) {
        self.actor = actor
        self.channel = channel
        self.reason = reason
        self.moveNumber = moveNumber
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            reason: try fields.field("reason", \.reason),
            moveNumber: try fields.field("turn", \.moveNumber))
    }
}

/// The outcome of a ``LeaveChannel``.
package struct ChannelLeft: Equatable, Sendable, FieldRecord {
    /// The sequence number of the channel's last event up to the leave: what was published before is to be shown to the
    /// leaver. Nil when the account was not a member by this session, and from an earlier release.
    package var sequence: Int64?

    package init(sequence: Int64? = nil) { self.sequence = sequence }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(sequence: try fields.optional("sequence", \.sequence))
    }
}

/// Changes a channel's attributes; answered after the change is committed in PostgreSQL. The actor need not be a
/// member, but its session must be the account's current one, held by the gateway that sends the command.
package struct ChangeChannelAttributes: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.attribute.change"
    package typealias Reply = Done
    /// The user and session that make the change.
    package var actor: Actor
    /// The channel, in the actor's app.
    package var channel: ChannelName
    /// The change.
    package var change: AttributeChange
    /// The largest number of attribute changes per second that the app allows in the channel.
    package var limitPerSecond: Int

    package var subject: Subject { .channel(ChannelKey(app: actor.user.app, name: channel)) }

    package init(
        actor: Actor, channel: ChannelName, change: AttributeChange,
        limitPerSecond: Int = Limits.channelAttributeChangesPerSecond
    ) {
        self.actor = actor
        self.channel = channel
        self.change = change
        self.limitPerSecond = limitPerSecond
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            change: try fields.fields(of: \.change),
            limitPerSecond: try fields.field("limit", \.limitPerSecond))
    }
}

/// Asks for the number of a channel's members.
package struct CountMembers: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.count"
    package typealias Reply = MemberCount
    package var channel: ChannelKey

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey) { self.channel = channel }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel))
    }
}

/// The number of a channel's members.
package struct MemberCount: Equatable, Sendable, FieldRecord {
    /// 0 for a channel that does not exist.
    package var count: Int

    package init(count: Int) { self.count = count }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(count: try fields.field("count", \.count))
    }
}

/// Asks whether a user is in a channel.
package struct QueryMember: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.contains"
    package typealias Reply = MemberStatus
    package var channel: ChannelKey
    package var account: Account

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, account: Account) {
        self.channel = channel
        self.account = account
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), account: try fields.field("account", \.account))
    }
}

/// Whether a user is in a channel.
package struct MemberStatus: Equatable, Sendable, FieldRecord {
    /// Whether the account is a member.
    package var isMember: Bool

    package init(isMember: Bool) { self.isMember = isMember }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(isMember: try fields.field("member", \.isMember))
    }
}

/// Asks for a channel's members.
package struct ListMembers: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.members"
    package typealias Reply = MemberList
    package var channel: ChannelKey
    /// The largest number of members to list; the latest are listed first.
    package var limit: Int

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, limit: Int) {
        self.channel = channel
        self.limit = limit
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), limit: try fields.field("limit", \.limit))
    }
}

/// The members of a channel.
package struct MemberList: Equatable, Sendable, FieldRecord {
    /// The number of all members.
    package var total: Int
    /// The latest members, newest first.
    package var members: [Member]

    package init(total: Int, members: [Member]) {
        self.total = total
        self.members = members
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(total: try fields.field("total", \.total), members: try fields.list("members", \.members))
    }
}
