internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import Logging
internal import MessageStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Handles joins and leaves.
///
/// A join changes the user's keys and those of two channels, which are in different hash slots, so it takes several
/// steps. Until the last step is done, the session's record lists the channels that it still has to leave: after a
/// crash the rest is done by the redelivered command, the session's next join, or its end.
///
/// Announcements to the app's servers go to channels of their own, whose master may be away: no answer waits for them.
struct MembershipHandler: Sendable {
    /// How long after a failure attributes are read again.
    private static let retryPause = Duration.seconds(2)

    let functions: ChannelFunctions
    let attributes: ChannelAttributeCache
    let timers: ServiceTimers<ChannelTimer>
    let counters: ChannelCounters
    let reassertion: MembershipReassertion
    let logger: Logger

    func join(
        _ command: JoinChannel, _ context: CommandContext
    ) async throws(SignalingError) -> FollowedReply<ChannelJoined> {
        try await announcing { announcements async throws(SignalingError) in
            try await join(command, context, &announcements)
        }
    }

    /// - Parameter act: adds the announcements to be made, also when it throws: a join that is
    ///   refused may have left other channels.
    func announcing<Answer: Sendable>(
        _ act: (inout [RedisCommand]) async throws(SignalingError) -> Answer
    ) async throws(SignalingError) -> FollowedReply<Answer> {
        var announcements: [RedisCommand] = []
        do throws(SignalingError) {
            let answer = try await act(&announcements)
            return FollowedReply(answer, then: announcements)
        } catch {
            _ = await functions.redis.execute(announcements)
            throw error
        }
    }

    /// - Parameter announcements: those to be made are added.
    private func join(
        _ command: JoinChannel, _ context: CommandContext, _ announcements: inout [RedisCommand]
    ) async throws(SignalingError) -> ChannelJoined {
        let actor = command.actor
        let channel = ChannelKey(app: actor.user.app, name: command.channel)
        let entered = try await functions.enter(command, context.id, deadline: context.deadline)
        try await refuse(command, entered)
        for left in entered.leaving {
            try await leave(
                LeaveChannel(actor: actor, channel: left, reason: .leaveByUser),
                context.step("leave-\(PercentEscape.escape(left.rawValue))"), announcements: &announcements)
        }
        if !entered.attributesAreCached { await loadAttributes(channel, actor, context) }
        let joined = try await join(command, entered, channel, context)
        // One pipeline, in this order: if the connection breaks in the middle, the redelivered command completes it.
        var after = commands(after: joined, actor, channel)
        if joined.outcome == .joined, joined.hasAudience {
            if joined.createsChannel { announcements += Self.beginning(of: channel, at: joined.change) }
            announcements += announcement(
                .join(channel.name), of: actor, in: channel, change: joined.change, context.id)
        }
        if !entered.leaving.isEmpty { after.append(ChannelFunctions.entered(actor, command.channel)) }
        after.append(ChannelFunctions.sessionPlace(actor))
        let replies = try await functions.redis.answers(to: after)
        if joined.outcome != .present {
            ChannelMetrics.shared.joins.increment()
            log("joined", actor, channel, .success, context)
        }
        let place = try ChannelFunctions.presence(replies.last, actor, command.channel)
        try await undoLateJoin(channel, actor, unless: place, context, &announcements)
        return joined.answer
    }

    /// Makes the session a member, or takes it out of the channel when that is refused.
    private func join(
        _ command: JoinChannel, _ entered: ChannelFunctions.EnterResult, _ channel: ChannelKey,
        _ context: CommandContext
    ) async throws(SignalingError) -> ChannelFunctions.Joined {
        do {
            return try await functions.join(
                command.actor, channel, context.id, deadline: context.deadline,
                hasRestrictions: entered.hasRestrictions)
        } catch {
            guard error.reason == .timeout || error.reason == .banned else { throw error }
            try await undo(command)
            // The restriction came after the first look, and the session has left another channel, as its gateway finds
            // out by this reason.
            throw error.reason == .banned ? SignalingError.unavailable("channel-state") : error
        }
    }

    /// Ends a join whose session is over by now, or in another channel.
    /// - Parameter place: where the session was after the join; nothing happens when it is `alive` in the channel.
    private func undoLateJoin(
        _ channel: ChannelKey, _ actor: Actor, unless place: ChannelFunctions.Presence, _ context: CommandContext,
        _ announcements: inout [RedisCommand]
    ) async throws(SignalingError) {
        switch place {
        case .alive: return
        case .over, .unknown:
            let leaving = LeaveChannel(actor: actor, channel: channel.name, reason: .leaveDisconnected)
            try await leave(leaving, context.step("undo"), announcements: &announcements)
            throw SignalingError(.notLoggedIn, .sessionOver, "the session is over")
        case .elsewhere:
            // Only after a time-out: the session's next join has overtaken this one.
            let leaving = LeaveChannel(actor: actor, channel: channel.name, reason: .leaveByUser)
            try await leave(leaving, context.step("undo"), announcements: &announcements)
            throw SignalingError(.joinOther, .superseded, "the session joined another channel meanwhile")
        }
    }

    func leave(
        _ command: LeaveChannel, _ context: CommandContext
    ) async throws(SignalingError) -> FollowedReply<ChannelLeft> {
        try await announcing { announcements async throws(SignalingError) in
            let left = try await leave(command, context, announcements: &announcements)
            return ChannelLeft(sequence: left?.sequence)
        }
    }

    /// Called when the deadline passed between the steps of a join, or the app kept the user out then: takes the
    /// session out of the channel, unless it was in it before.
    private func undo(_ command: JoinChannel) async throws(SignalingError) {
        let channel = ChannelKey(app: command.actor.user.app, name: command.channel)
        guard try await !functions.holds(command.actor, channel) else { return }
        let exited = try await functions.redis.answer(
            to: ChannelFunctions.exit(command.actor, command.channel, moveNumber: command.moveNumber))
        if ChannelFunctions.isRestored(exited) {
            try await reassertion.forget(command.actor, in: channel, isTold: false)
        }
    }

    /// - Parameters:
    ///   - context: has the id of the step, the same at each repetition, and the time after which nothing is done.
    ///   - announcements: those to be made are added.
    /// - Returns: nil when the account was not a member by this session.
    @discardableResult
    private func leave(
        _ leave: LeaveChannel, _ context: CommandContext, announcements: inout [RedisCommand]
    ) async throws(SignalingError) -> ChannelFunctions.Left? {
        let (actor, reason) = (leave.actor, leave.reason)
        let channel = ChannelKey(app: actor.user.app, name: leave.channel)
        let left = try await functions.leave(actor, channel, context.id, deadline: context.deadline)
        var after = [ChannelFunctions.exit(actor, channel.name, moveNumber: leave.moveNumber)]
        if let left {
            after += commands(after: left, leave, channel, context)
            announcements += announcement(
                .leave(channel.name, reason), of: actor, in: channel, change: left.change, context.id)
        }
        let replies = try await functions.redis.answers(to: after)
        if ChannelFunctions.isRestored(replies.first) {
            // Perhaps between the two steps above.
            try await reassertion.forget(actor, in: channel, isTold: false)
        }
        if left != nil { noteLeft(leave, channel, context) }
        return left
    }

    /// Does what follows a member's removal from the channel, apart from its session's record.
    func finish(
        _ leave: LeaveChannel, _ left: ChannelFunctions.Left, _ context: CommandContext,
        _ announcements: inout [RedisCommand]
    ) async throws(SignalingError) {
        let channel = ChannelKey(app: leave.actor.user.app, name: leave.channel)
        announcements += announcement(
            .leave(channel.name, leave.reason), of: leave.actor, in: channel, change: left.change, context.id)
        _ = try await functions.redis.answers(to: commands(after: left, leave, channel, context))
        noteLeft(leave, channel, context)
    }

    private func noteLeft(_ leave: LeaveChannel, _ channel: ChannelKey, _ context: CommandContext) {
        ChannelMetrics.shared.leaves.increment()
        log("left", leave.actor, channel, leave.reason, context)
    }

    /// The commands that follow a leave: for the mirror and the channel's timers.
    private func commands(
        after left: ChannelFunctions.Left, _ leave: LeaveChannel, _ channel: ChannelKey, _ context: CommandContext
    ) -> [RedisCommand] {
        let cause = MirrorCause(.leave, reason: leave.reason, for: EventRequest(context.cause))
        var after = functions.mirror.entries(
            Member(account: leave.actor.user.account, uid: left.uid), in: channel, present: false,
            change: left.change, cause: cause)
        if left.count == 0, channel.name.special == nil {
            let due = RedisTime(microseconds: left.change) + left.timeToLive
            after.append(timers.setting(.expiry(channel), at: due))
        }
        return after + counters.scheduling(left.countersDue, channel)
    }

    /// The commands that follow a join: for the mirror and the channel's timers.
    private func commands(
        after joined: ChannelFunctions.Joined, _ actor: Actor, _ channel: ChannelKey
    ) -> [RedisCommand] {
        if joined.outcome == .present { return [] }
        var after = functions.mirror.entries(
            Member(account: actor.user.account, uid: actor.uid), in: channel, present: true, change: joined.change,
            cause: joined.outcome == .joined ? MirrorCause(.join, createsChannel: joined.createsChannel) : nil)
        after += counters.scheduling(joined.countersDue, channel)
        if joined.count == 1, channel.name.special == nil {
            // The timer that ends the channel is set at its first join, so that a crash at the last leave cannot lose
            // it.
            let due = RedisTime(microseconds: joined.change) + .seconds(Limits.channelTimeToLive)
            after.append(timers.setting(.expiry(channel), at: due))
        }
        return after
    }

    /// Announces a join or leave to the app's servers. Those in special channels are servers themselves and are not
    /// announced.
    private func announcement(
        _ event: ServerAnnouncement.Event, of actor: Actor, in channel: ChannelKey, change: Int64, _ id: CommandID
    ) -> [RedisCommand] {
        guard channel.name.special == nil else { return [] }
        let announcement = ServerAnnouncement(event, of: actor, at: RedisTime(microseconds: change))
        return [announcement.publishing(id.derived("announce"))]
    }

    /// Tells those who follow the app's events that a channel has got its first member.
    private static func beginning(of channel: ChannelKey, at change: Int64) -> [RedisCommand] {
        guard channel.name.special == nil else { return [] }
        // Just before the join, as webhooks tell it.
        let event = WebhookEvent(.channelCreated, in: channel.app, at: change - 1, .channel(channel.name))
        return [FollowedEvent(event, in: .channels).publishing]
    }

    /// Loads the channel's attributes, if necessary. While PostgreSQL does not answer, a channel whose attributes are
    /// not cached is joined without them; its members receive them as soon as they can be read.
    private func loadAttributes(_ channel: ChannelKey, _ actor: Actor, _ context: CommandContext) async {
        do throws(SignalingError) {
            try await attributes.load(channel, account: actor.user.account, uid: actor.uid)
        } catch {
            try? await timers.set(.attributes(channel), after: Self.retryPause)
            logger.about(context).warning(
                "could not read a channel's attributes; joining without them",
                metadata: ["app": "\(channel.app)", "channel": "\(channel.name)", "error": "\(error)"])
        }
    }

    private func log(
        _ message: Logger.Message, _ actor: Actor, _ channel: ChannelKey, _ reason: SignalingCode,
        _ context: CommandContext
    ) {
        logger.about(context).debug(
            message,
            metadata: [
                "app": "\(channel.app)", "channel": "\(channel.name)", "account": "\(actor.user.account)",
                "session": "\(actor.session)", "reason": "\(reason.rawValue)",
            ])
    }
}
