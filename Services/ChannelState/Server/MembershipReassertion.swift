internal import Logging
internal import RedisStore
internal import SignalingProtocol

/// Makes members again whom Redis lost, as their gateways tell.
struct MembershipReassertion: Sendable {
    let functions: ChannelFunctions
    let attributes: ChannelAttributeCache
    let counters: ChannelCounters
    let logger: Logger

    func reassert(_ command: ReassertMembers, _ context: CommandContext) async throws(SignalingError) -> Done {
        guard !command.members.isEmpty else { return Done() }
        let calls = command.members.map { held in
            let user = UserKey(app: command.channel.app, account: held.member.account)
            let actor = Actor(user: user, uid: held.member.uid, session: held.session)
            return ChannelFunctions.rejoin(actor, command.channel.name)
        }
        let replies = try await functions.all(calls)
        // The session is over, or has joined another channel: Redis knows better than the gateway.
        let members = zip(command.members, replies).filter { $0.1.int == 1 }.map(\.0)
        guard !members.isEmpty else { return Done() }
        await restoreAttributes(command.channel, members[0].member)
        let reasserted = try await functions.reassert(members, command.channel)
        let added = members.map(\.member).filter { reasserted.added.contains($0.account) }
        _ = try await functions.all(
            added.map {
                MemberMirror.entry(command.channel, $0.account, uid: $0.uid, present: true, change: reasserted.change)
            } + counters.scheduling(reasserted.telling, command.channel))
        if !added.isEmpty {
            logger.notice(
                "members restored",
                metadata: [
                    "app": "\(command.channel.app)", "channel": "\(command.channel.name)", "members": "\(added.count)",
                ])
        }
        return Done()
    }

    /// A channel that Redis lost takes its limits from its attributes again.
    private func restoreAttributes(_ channel: ChannelKey, _ member: Member) async {
        let cached = try? await functions.one(RedisCommand("EXISTS", .string(KeySpace.tag(channel) + ":attrver")))
        if cached?.int == 1 { return }
        _ = try? await attributes.load(channel, account: member.account, uid: member.uid)
    }
}
