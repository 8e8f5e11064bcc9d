internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import Logging
internal import RedisClient
internal import SignalingProtocol

/// Corrects the members of channels after Redis has lost data, by the reports of gateways: restores members that Redis
/// has lost, and removes those whose leave it has lost. Other members are not informed, because nothing has changed for
/// them.
///
/// The sessions' records, which gateways reassert first, determine who is in which channel. They are in other hash
/// slots than the channel. So each change checks them before and after, and is undone if a join or a leave came in
/// between. A leave changes the record last: it finds there that the member was restored, and removes it again.
struct MembershipReassertion: Sendable {
    let functions: ChannelFunctions
    let attributes: ChannelAttributeCache
    let timers: ServiceTimers<ChannelTimer>
    let counters: ChannelCounters
    let logger: Logger

    func reassert(
        _ command: ReassertMembers, _ context: CommandContext
    ) async throws(SignalingError) -> MembersReasserted {
        let places = try await places(command.members, command.channel)
        let unknown = zip(command.members, places).filter { $0.1 == .unknown || $0.1 == .elsewhere }.map(\.0.session)
        let members = zip(command.members, places).filter { $0.1 == .alive }.map(\.0)
        if !members.isEmpty { try await add(members, to: command.channel) }
        return MembersReasserted(unknown: unknown)
    }

    func forget(_ command: ForgetMember, _ context: CommandContext) async throws(SignalingError) -> Done {
        let channel = ChannelKey(app: command.actor.user.app, name: command.channel)
        try await forget(command.actor, in: channel, isTold: false)
        return Done()
    }

    /// - Parameter isTold: whether the other members are informed.
    func forget(_ actor: Actor, in channel: ChannelKey, isTold: Bool) async throws(SignalingError) {
        let held = HeldMember(
            member: Member(account: actor.user.account, uid: actor.uid), session: actor.session)
        guard try await places([held], channel) != [.alive] else { return }
        try await remove(actor, from: channel, isTold: isTold)
        _ = try await functions.redis.answer(to: ChannelFunctions.forgot(actor, channel.name))
        // The session has joined again meanwhile.
        if try await places([held], channel) == [.alive] { try await add([held], to: channel) }
    }

    private func add(_ members: [HeldMember], to channel: ChannelKey) async throws(SignalingError) {
        await restoreAttributes(channel, members[0].member)
        let reasserted = try await functions.reassert(members, channel)
        guard let change = reasserted.change else { return }
        let added = members.filter { reasserted.added.contains($0.member.account) }
        var after = added.flatMap {
            functions.mirror.entries($0.member, in: channel, present: true, change: change)
        }
        after += counters.scheduling(reasserted.countersDue, channel)
        if channel.name.special == nil {
            // Redis may also have lost the timer that ends the channel.
            let due = RedisTime(microseconds: change) + .seconds(Limits.channelTimeToLive)
            after.append(timers.setting(.expiry(channel), at: due))
        }
        _ = try await functions.redis.answers(to: after)
        let restored = try await functions.redis.answers(
            to: added.map { ChannelFunctions.restored(actor($0, channel), channel.name) })
        // Removes those who left, or joined another channel, meanwhile.
        for (held, reply) in zip(added, restored) where reply.int != 1 {
            try await remove(actor(held, channel), from: channel, isTold: false)
        }
        logger.notice(
            "members restored",
            metadata: ["app": "\(channel.app)", "channel": "\(channel.name)", "members": "\(added.count)"])
    }

    private func remove(_ actor: Actor, from channel: ChannelKey, isTold: Bool) async throws(SignalingError) {
        guard let left = try await functions.forget(actor, channel, isTold: isTold) else { return }
        var after = functions.mirror.entries(
            Member(account: actor.user.account, uid: left.uid), in: channel, present: false, change: left.change,
            cause: isTold ? MirrorCause(.leave, reason: .leaveDisconnected) : nil)
        after += counters.scheduling(left.countersDue, channel)
        if left.count == 0, channel.name.special == nil {
            let due = RedisTime(microseconds: left.change) + left.timeToLive
            after.append(timers.setting(.expiry(channel), at: due))
        }
        _ = try await functions.redis.answers(to: after)
    }

    private func places(
        _ members: [HeldMember], _ channel: ChannelKey
    ) async throws(SignalingError) -> [ChannelFunctions.Presence] {
        let replies = try await functions.redis.answers(
            to: members.map { ChannelFunctions.sessionPlace(actor($0, channel)) })
        var places: [ChannelFunctions.Presence] = []
        for (held, reply) in zip(members, replies) {
            places.append(try ChannelFunctions.presence(reply, actor(held, channel), channel.name))
        }
        return places
    }

    private func actor(_ held: HeldMember, _ channel: ChannelKey) -> Actor {
        Actor(
            user: UserKey(app: channel.app, account: held.member.account), uid: held.member.uid, session: held.session)
    }

    /// Loads the attributes of a channel that Redis has lost, because its limits are among them.
    private func restoreAttributes(_ channel: ChannelKey, _ member: Member) async {
        let cached = try? await functions.redis.answer(
            to: RedisCommand("EXISTS", key: ChannelKeys(channel).attributesVersion))
        if cached?.int == 1 { return }
        _ = try? await attributes.load(channel, account: member.account, uid: member.uid)
    }
}
