internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// Answers queries about channels' members.
struct MemberQueries: Sendable {
    /// The number of members returned by one call of a Redis Function, so that a large channel does not block Redis.
    private static let page = 500
    /// The bounds of one reply: its members, and the bytes of their accounts with the overhead of each. They keep it
    /// below ``Limits/replyBytes``.
    static let listBound = 50_000
    private static let listBytes = 3 << 20
    private static let memberOverhead = 24

    let functions: ChannelFunctions

    func count(_ command: CountMembers, _ context: CommandContext) async throws(SignalingError) -> MemberCount {
        let reply = try await functions.redis.answer(
            to: RedisCommand("ZCARD", key: ChannelKeys(command.channel).members))
        return MemberCount(count: Int(reply.int ?? 0))
    }

    func contains(_ command: QueryMember, _ context: CommandContext) async throws(SignalingError) -> MemberStatus {
        let reply = try await functions.redis.answer(
            to: RedisCommand(
                "ZSCORE", key: ChannelKeys(command.channel).members, .string(command.account.rawValue)))
        return MemberStatus(isMember: !reply.isNull)
    }

    func list(_ command: ListMembers, _ context: CommandContext) async throws(SignalingError) -> MemberList {
        let limit = min(max(command.limit, 0), Self.listBound)
        let first = try await functions.members(command.channel, below: nil, limit: min(limit, Self.page))
        var members = first.members
        var next = first.next
        var bytes = Self.bytes(of: members)
        while members.count < limit, bytes < Self.listBytes, let below = next {
            let page = try await functions.members(
                command.channel, below: below, limit: min(limit - members.count, Self.page))
            members += page.members
            bytes += Self.bytes(of: page.members)
            next = page.next
        }
        return MemberList(total: first.total, members: members)
    }

    private static func bytes(of members: [Member]) -> Int {
        members.reduce(0) { $0 + $1.account.rawValue.utf8.count + memberOverhead }
    }
}
