package import BusProtocol
internal import ClusterBus
internal import ClusterState
package import RedisClient
package import SignalingProtocol

extension RedisCommand {
    /// Records a restriction, which replaces an earlier one of its kind; its reply is a ``RecordedRestriction``.
    /// - Parameter id: the same at each repetition.
    /// - Parameter deadline: after this time nothing is done; nil for none.
    package static func restricting(
        _ command: RestrictMember, _ id: CommandID, deadline: RedisTime? = nil
    ) -> RedisCommand {
        .function(
            "channel_bar", tag: KeySpace.tag(command.channel), .string(id.rawValue), .deadline(deadline),
            .string(command.kind.rawValue), .string(command.account.rawValue), .int64(command.until),
            .string(command.reason)
        ).durable
    }

    /// Ends a restriction, if there is one.
    package static func lifting(_ command: LiftRestriction) -> RedisCommand {
        .function(
            "channel_unbar", tag: KeySpace.tag(command.channel), .string(command.kind.rawValue),
            .string(command.account.rawValue)
        ).durable
    }

    /// Asks for restrictions; its reply is a ``RestrictionPage``.
    package static func listing(_ command: ListRestrictions) -> RedisCommand {
        .function(
            "channel_bars", tag: KeySpace.tag(command.channel), .string(command.kind.rawValue),
            .string(command.after), .int(command.limit))
    }
}

/// The reply to ``RedisClient/RedisCommand/restricting(_:_:deadline:)``.
package struct RecordedRestriction: Equatable, Sendable {
    /// When it was made, in Unix seconds.
    package var createdAt: Int64
    /// Whether the channel has had members, so that its timer is set.
    package var hasBegun: Bool
    /// What the channel has of the account, as its key ``ChannelKeys/memberInfo``; empty when it is not a member.
    package var memberInfo: String

    /// - Throws: `SignalingError.unreadableAnswer`.
    package init(_ reply: RedisValue) throws(SignalingError) {
        var parts = try FunctionReply(reply)
        createdAt = try parts.int64()
        hasBegun = try parts.int64() == 1
        memberInfo = try parts.text()
    }
}

extension RestrictionPage {
    /// - Throws: `SignalingError.unreadableAnswer`.
    package init(_ reply: RedisValue) throws(SignalingError) {
        var parts = try FunctionReply(reply)
        let next = try parts.text()
        var restrictions: [ChannelRestriction] = []
        while !parts.isEmpty {
            let account = try Account(try parts.text())
            let words = try parts.text().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, let until = Int64(words[0]), let created = Int64(words[1]) else {
                throw .unreadableAnswer
            }
            restrictions.append(
                ChannelRestriction(account: account, until: until, reason: String(words[2]), createdAt: created))
        }
        self.init(restrictions: restrictions, next: next.isEmpty ? nil : next)
    }
}
