internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// The app's part in memberships: removals, and joins that are refused.
extension MembershipHandler {
    /// How often a removal is begun again because the session joins or leaves meanwhile.
    private static let removalAttempts = 5

    /// Takes a member out of a channel, and has its client told.
    func remove(
        _ actor: Actor, from channel: ChannelKey, _ context: CommandContext
    ) async throws(SignalingError) -> FollowedReply<ChannelLeft> {
        try await announcing { announcements async throws(SignalingError) in
            let leaving = LeaveChannel(actor: actor, channel: channel.name, reason: .leaveKicked)
            let step = context.step("remove")
            guard let left = try await functions.leave(actor, channel, step.id, deadline: context.deadline) else {
                return ChannelLeft()
            }
            var turn = Int64(0)
            var isOver = false
            for _ in 0..<Self.removalAttempts where !isOver {
                let exit = ChannelFunctions.removed(actor, channel.name, change: left.change, turn: turn)
                let found = try await functions.redis.answer(to: exit)
                guard let moved = ChannelFunctions.turnOfMove(found) else {
                    if ChannelFunctions.isRestored(found) {
                        try await reassertion.forget(actor, in: channel, isTold: false)
                    }
                    break
                }
                turn = moved
                // It has joined again since, and may stay, unless the removal came after that join.
                isOver = try await functions.holds(actor, channel)
            }
            try await finish(leaving, left, step, &announcements)
            return ChannelLeft(sequence: left.sequence)
        }
    }

    /// Refuses a join to a channel from which the app keeps the user out, before the session has left another one.
    /// - Parameter entered: what the join's first step has recorded.
    func refuse(
        _ command: JoinChannel, _ entered: ChannelFunctions.EnterResult
    ) async throws(SignalingError) {
        let channel = ChannelKey(app: command.actor.user.app, name: command.channel)
        guard entered.hasRestrictions, try await functions.keepsOut(command.actor.user.account, channel) else { return }
        var former: ChannelName?
        if let last = entered.leaving.last,
            try await functions.holds(command.actor, ChannelKey(app: channel.app, name: last))
        {
            former = last
        }
        _ = try await functions.redis.answer(
            to: ChannelFunctions.stays(command.actor, insteadOf: command.channel, former, command.moveNumber))
        throw SignalingError(.joinOther, .banned, "the app has removed the user from the channel for a time")
    }
}

extension ChannelFunctions {
    /// Reports that the app has removed the session from the channel, and has its gateway told.
    /// - Parameters:
    ///   - change: the number of the change of the channel's members.
    ///   - turn: the number of the session's last join or leave.
    static func removed(_ actor: Actor, _ channel: ChannelName, change: Int64, turn: Int64) -> RedisCommand {
        .function(
            "session_removed", tag: KeySpace.tag(actor.user), .string(actor.session.rawValue),
            .string(channel.rawValue), .int64(change), .int64(turn))
    }

    /// Parses the reply to ``removed(_:_:change:turn:)``.
    /// - Returns: the number of the session's last join or leave, when that is another one than was said; else nil.
    static func turnOfMove(_ reply: RedisValue) -> Int64? { reply.array?.first?.string.flatMap { Int64($0) } }

    /// Reports that a join was refused: the session is where it was.
    static func stays(
        _ actor: Actor, insteadOf refused: ChannelName, _ former: ChannelName?, _ moveNumber: Int64
    ) -> RedisCommand {
        .function(
            "session_stay", tag: KeySpace.tag(actor.user), .string(actor.session.rawValue), .string(refused.rawValue),
            .string(former?.rawValue ?? ""), .int64(moveNumber))
    }

    /// Whether the app keeps an account out of a channel.
    func keepsOut(_ account: Account, _ channel: ChannelKey) async throws(SignalingError) -> Bool {
        let field = "\(RestrictionKind.ban.rawValue) \(account.rawValue)"
        let found = try await redis.answer(
            to: RedisCommand("HGET", key: ChannelKeys(channel).restrictions, .string(field)))
        guard let until = found.string?.prefix(while: { $0 != " " }) else { return false }
        let now = try await redis.time(ofSlot: KeySpace.slot(of: .channel(channel)))
        return (Int64(until) ?? 0) * 1000 > now.milliseconds
    }
}
