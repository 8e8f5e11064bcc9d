internal import ClusterState
internal import Logging
internal import NIOCore
internal import SignalingProtocol

/// Deletes the libraries of Redis Functions that no process uses any more: each release brings new ones, see
/// ``RedisFunctionLibrary``.
///
/// Every hour, each connection records the names of its libraries in a sorted set, scored by the time (ms, Redis' clock),
/// and deletes the libraries that no connection has recorded for seven days. Deleting one too many does no harm: a connection
/// whose library is missing loads it again.
///
/// Use it on the connection's event loop only.
final class LibraryUpkeep {
    /// What one round must do.
    struct Plan: Equatable {
        /// The connection's own libraries, to be recorded now.
        var used: [String]
        /// Libraries seen for the first time, to be recorded now: their seven days begin.
        var found: [String]
        /// Libraries to delete.
        var stale: [String]
        /// Recorded names of libraries that no longer exist, to be removed from the record.
        var gone: [String]
    }

    /// The pause after a successful round, and after a failed one.
    static let pause = (success: Duration.seconds(3600), failure: Duration.seconds(60))
    /// How long a library must not have been recorded before it is deleted.
    static let grace = Duration.seconds(7 * 86_400)

    private let used: [String]
    private let logger: Logger
    private var next = NIODeadline.distantPast

    init(_ libraries: [RedisFunctionLibrary], logger: Logger) {
        used = libraries.filter { !$0.suffix.isEmpty }.map(\.name)
        self.logger = logger
    }

    /// Derives a plan from the libraries on the server and the time at which each was last recorded.
    static func plan(used: [String], present: [String], named: [String: RedisTime], now: RedisTime) -> Plan {
        let others = Set(present).subtracting(used).filter { $0.wholeMatch(of: ours) != nil }
        let stale = others.filter { named[$0].map { $0 + grace < now } == true }
        return Plan(
            used: used, found: others.filter { named[$0] == nil }.sorted(), stale: stale.sorted(),
            gone: named.keys.filter { !others.contains($0) && !used.contains($0) }.sorted())
    }

    /// Matches the cluster's own libraries; others in the same Redis are left alone.
    private static var ours: Regex<Substring> { #/heliograph_[a-z_]+_[0-9a-f]{8}/# }

    /// Starts a round if one is due. Called from time to time while the connection is up.
    func tick(_ connection: CommandPipeline) {
        guard !used.isEmpty, NIODeadline.now() >= next, let now = connection.clock?.now else { return }
        next = .now() + TimeAmount(Self.pause.success)
        let commands = [
            RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", "heliograph_*"),
            RedisCommand("ZRANGE", .string(KeySpace.libraries), 0, -1, "WITHSCORES"),
        ]
        let results = ResultCollector(count: commands.count) { [self] outcomes in
            let replies = outcomes.compactMap { try? $0.get() }
            guard replies.count == commands.count else { return failed() }
            let plan = Self.plan(
                used: used, present: Self.names(replies[0]), named: Self.scores(replies[1]), now: now)
            perform(plan, now, connection)
        }
        for (index, command) in commands.enumerated() { connection.send(command) { results.set(index, $0) } }
    }

    private func perform(_ plan: Plan, _ now: RedisTime, _ connection: CommandPipeline) {
        var naming = RedisCommand("ZADD", .string(KeySpace.libraries))
        for name in plan.used + plan.found {
            naming.append(.time(now))
            naming.append(.string(name))
        }
        connection.send(naming) { [self] result in
            // When nothing can be recorded, for example at `maxmemory`, other connections may have failed too, so nothing is
            // deleted.
            guard case .success = result else { return failed() }
            for name in plan.stale {
                connection.send(RedisCommand("FUNCTION", "DELETE", .string(name))) { [logger] result in
                    guard case .success = result else { return }
                    logger.notice("deleted unused function library", metadata: ["library": "\(name)"])
                }
            }
            let gone = plan.gone + plan.stale
            guard !gone.isEmpty else { return }
            connection.send(
                RedisCommand("ZREM", arguments: [.string(KeySpace.libraries)] + gone.map { .string($0) })
            ) { _ in }
        }
    }

    private func failed() {
        next = .now() + TimeAmount(Self.pause.failure)
        logger.debug("could not register the function libraries in use")
    }

    /// The libraries' names in the reply to FUNCTION LIST.
    private static func names(_ reply: RedisValue) -> [String] {
        (reply.array ?? []).compactMap { library in
            let parts = library.array ?? []
            return parts.firstIndex { $0.string == "library_name" }.flatMap { parts[$0 + 1].string }
        }
    }

    private static func scores(_ reply: RedisValue) -> [String: RedisTime] {
        let parts = reply.array ?? []
        var scores: [String: RedisTime] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[index].string, let score = parts[index + 1].string else { continue }
            scores[name] = Double(score).map { RedisTime(milliseconds: Int64($0)) }
        }
        return scores
    }
}
