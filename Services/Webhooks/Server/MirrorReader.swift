internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol
internal import WebhooksLogic

/// Looks how far the services have copied what happened into PostgreSQL.
struct MirrorReader: Sendable {
    /// The mirrors that contain events.
    private static let mirrors = [Mirror.changes(.presence), .changes(.channelState), .changes(.invitation), .messages]

    let redis: RedisClient

    /// The time up to which all events are in PostgreSQL, in microseconds of Redis' clock.
    /// - Throws: when a server does not answer.
    func horizon(settling: Duration) async throws(SignalingError) -> Int64 {
        let partitions = redis.bus.partitions
        var commands: [RedisCommand] = []
        for partition in partitions {
            // First the time: what is added afterwards is later.
            commands.append(RedisCommand("TIME").inSlot(partition.slot))
            for mirror in Self.mirrors {
                commands.append(
                    RedisCommand("XRANGE", key: KeySpace.mirror(mirror, in: partition), "-", "+", "COUNT", 1))
            }
        }
        var replies = try await redis.answers(to: commands)[...]
        var horizon = Int64.max
        for _ in partitions {
            guard let time = replies.popFirst()?.time else { throw .unreadableAnswer }
            let first = replies.prefix(Self.mirrors.count).map { $0.array?.first?.array?.first?.string }
            replies = replies.dropFirst(Self.mirrors.count)
            horizon = min(
                horizon, MirrorProgress.horizon(now: time.milliseconds, first: first, settling: settling))
        }
        return horizon
    }
}
