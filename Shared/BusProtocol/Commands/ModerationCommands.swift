package import SignalingProtocol

/// What an app's server keeps a user from in one channel.
package enum RestrictionKind: String, CaseIterable, Sendable, FieldValue {
    /// Being a member, and sending to the channel.
    case ban
    /// Sending to the channel.
    case mute
}

/// Restricts a user in a channel until a time; replaces an earlier restriction of the kind. A ban also removes the user
/// from the channel. Fails with `too_many_bans` when the channel has ``Limits/restrictionsPerChannel``, and with
/// `no_such_member` when a user who is not a member is only to be removed.
package struct RestrictMember: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.restrict"
    package static let level: Int64 = 2
    /// True: a removal frees memory; a new restriction is refused by Redis' own measure.
    package var isVital: Bool { true }
    package typealias Reply = RestrictedMember
    package var channel: ChannelKey
    /// Who need not be a member, nor have logged in ever.
    package var account: Account
    package var kind: RestrictionKind
    /// When the restriction ends, in Unix seconds; 0 for none: the user is only removed.
    package var until: Int64
    /// What the app's server notes about it; the user is not told.
    package var reason: String

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, account: Account, kind: RestrictionKind, until: Int64, reason: String) {
        self.channel = channel
        self.account = account
        self.kind = kind
        self.until = until
        self.reason = reason
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            channel: try fields.fields(of: \.channel),
            account: try fields.field("account", \.account),
            kind: try fields.field("kind", \.kind),
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason))
    }
}

/// The outcome of a ``RestrictMember``.
package struct RestrictedMember: Equatable, Sendable, FieldRecord {
    /// When the restriction was made, in Unix seconds.
    package var createdAt: Int64
    /// Whether the user was removed from the channel.
    package var isRemoved: Bool

    package init(createdAt: Int64, isRemoved: Bool) {
        self.createdAt = createdAt
        self.isRemoved = isRemoved
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            createdAt: try fields.field("created", \.createdAt), isRemoved: try fields.field("removed", \.isRemoved))
    }
}

/// Ends a restriction, if there is one.
package struct LiftRestriction: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.restrict.lift"
    package static let level: Int64 = 2
    /// True: it frees memory.
    package var isVital: Bool { true }
    package typealias Reply = Done
    package var channel: ChannelKey
    package var account: Account
    package var kind: RestrictionKind

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, account: Account, kind: RestrictionKind) {
        self.channel = channel
        self.account = account
        self.kind = kind
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            channel: try fields.fields(of: \.channel),
            account: try fields.field("account", \.account),
            kind: try fields.field("kind", \.kind))
    }
}

/// Asks for a page of a channel's restrictions of one kind that have not ended, by account.
package struct ListRestrictions: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.restrict.list"
    package static let level: Int64 = 2
    package typealias Reply = RestrictionPage
    package var channel: ChannelKey
    package var kind: RestrictionKind
    /// The ``RestrictionPage/next`` of the page before; empty for the first page.
    package var after: String
    /// Restrictions of the page at most.
    package var limit: Int

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey, kind: RestrictionKind, after: String, limit: Int) {
        self.channel = channel
        self.kind = kind
        self.after = after
        self.limit = limit
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            channel: try fields.fields(of: \.channel),
            kind: try fields.field("kind", \.kind),
            after: try fields.field("after", \.after),
            limit: try fields.field("limit", \.limit))
    }
}

/// A page of a channel's restrictions.
package struct RestrictionPage: Equatable, Sendable, FieldRecord {
    package var restrictions: [ChannelRestriction]
    /// Where the next page begins; nil after the last one.
    package var next: String?

    package init(restrictions: [ChannelRestriction], next: String?) {
        self.restrictions = restrictions
        self.next = next
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            restrictions: try fields.list("restrictions", \.restrictions), next: try fields.optional("next", \.next))
    }
}

/// A restriction of a user in a channel.
package struct ChannelRestriction: Equatable, Sendable, FieldRecord {
    /// How long a restriction may last, in seconds: up to 30 days.
    package static let seconds = 1...2_592_000
    /// Bytes of a restriction's reason.
    package static let reasonBytes = 0...512

    package var account: Account
    /// When it ends, in Unix seconds.
    package var until: Int64
    /// What the app's server noted about it.
    package var reason: String
    /// When it was made, in Unix seconds.
    package var createdAt: Int64

    package init(account: Account, until: Int64, reason: String, createdAt: Int64) {
        self.account = account
        self.until = until
        self.reason = reason
        self.createdAt = createdAt
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            account: try fields.field("account", \.account),
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason),
            createdAt: try fields.field("created", \.createdAt))
    }
}
