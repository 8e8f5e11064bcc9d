internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Removes members from channels, keeps users out, and mutes them, for apps' servers.
///
/// A restriction is recorded before the member is removed, so that the user cannot come back in between. It is in
/// the channel's slot, where joins and messages check it, and nowhere else.
struct ModerationHandler: Sendable {
    let membership: MembershipHandler
    let audit: AuditStore

    private var functions: ChannelFunctions { membership.functions }

    func restrict(
        _ command: RestrictMember, _ context: CommandContext
    ) async throws(SignalingError) -> FollowedReply<RestrictedMember> {
        try await note(
            .restrict(command.kind, command.channel.name, until: command.until, reason: command.reason),
            to: command.account, of: command.channel, context)
        let recorded = try RecordedRestriction(
            try await functions.redis.answer(to: .restricting(command, context.id, deadline: context.deadline)))
        if command.until > 0, !recorded.hasBegun { try await forgetLater(command.channel) }
        if command.until > 0 { ChannelMetrics.shared.restrictions.increment() }
        guard command.kind == .ban, let member = MemberInfo(text: recorded.memberInfo) else {
            // `heliographctl`, which wants no reply, asks for the removal apart from the ban.
            guard command.until > 0 || context.asker == nil else {
                throw SignalingError(.failed, .noSuchMember, "the user is not in the channel")
            }
            return FollowedReply(RestrictedMember(createdAt: recorded.createdAt, isRemoved: false), then: [])
        }
        let user = UserKey(app: command.channel.app, account: command.account)
        let actor = Actor(user: user, uid: member.uid, session: member.session)
        let removed = try await membership.remove(actor, from: command.channel, context)
        return FollowedReply(
            RestrictedMember(createdAt: recorded.createdAt, isRemoved: true), then: removed.then)
    }

    func lift(_ command: LiftRestriction, _ context: CommandContext) async throws(SignalingError) -> Done {
        try await note(
            .liftRestriction(command.kind, command.channel.name), to: command.account, of: command.channel, context)
        _ = try await functions.redis.answer(to: .lifting(command))
        return Done()
    }

    func list(_ command: ListRestrictions, _ context: CommandContext) async throws(SignalingError) -> RestrictionPage {
        try RestrictionPage(try await functions.redis.answer(to: .listing(command)))
    }

    /// A channel that nobody has joined has a state now, which says that there are restrictions.
    private func forgetLater(_ channel: ChannelKey) async throws(SignalingError) {
        try await membership.timers.set(.expiry(channel), after: .seconds(Limits.channelTimeToLive))
    }

    /// Notes an act in the audit trail. `heliographctl`, which wants no reply, has noted its own.
    private func note(
        _ act: AuditedAct, to account: Account, of channel: ChannelKey, _ context: CommandContext
    ) async throws(SignalingError) {
        guard context.asker != nil else { return }
        try await answerOfPostgres { () throws(PostgresError) in
            try await audit.note(
                act, to: UserKey(app: channel.app, account: account), by: AuditCause(context))
        }
    }
}
