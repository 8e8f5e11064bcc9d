internal import RedisStore
internal import SignalingProtocol

/// Answers questions about channels' members.
struct MemberQueries: Sendable {
    /// Members of one function call, so that a large channel holds up nobody else in Redis.
    private static let page = 2000
    /// Members of one answer: a longer one would come near the bound at which Redis drops the gateway's subscription.
    static let listBound = 50_000

    let functions: ChannelFunctions

    func count(_ command: CountMembers, _ context: CommandContext) async throws(SignalingError) -> MemberCount {
        let reply = try await functions.one(
            RedisCommand("ZCARD", .string(KeySpace.tag(command.channel) + ":members")))
        return MemberCount(count: Int(reply.int ?? 0))
    }

    func contains(_ command: QueryMember, _ context: CommandContext) async throws(SignalingError) -> MemberStatus {
        let reply = try await functions.one(
            RedisCommand(
                "ZSCORE", .string(KeySpace.tag(command.channel) + ":members"), .string(command.account.rawValue)))
        return MemberStatus(isMember: !reply.isNull)
    }

    func list(_ command: ListMembers, _ context: CommandContext) async throws(SignalingError) -> MemberList {
        let limit = min(max(command.limit, 0), Self.listBound)
        let first = try await functions.members(command.channel, below: nil, limit: min(limit, Self.page))
        var members = first.members
        var next = first.next
        while members.count < limit, let below = next {
            let page = try await functions.members(
                command.channel, below: below, limit: min(limit - members.count, Self.page))
            members += page.members
            next = page.next
        }
        return MemberList(total: first.total, members: members)
    }
}
