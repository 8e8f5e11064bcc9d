internal import ClusterState
internal import Logging
internal import NIOCore
internal import SignalingProtocol

/// Deletes libraries of Redis Functions that no program uses any more: each release brings new ones, see
/// ``RedisFunctionLibrary``.
///
/// Once an hour, every connection writes the names of the libraries it uses into a zset, with the time (Redis clock, ms), and
/// deletes libraries that no connection has named for a day. A mistake does no harm: a connection whose library is missing loads it
/// again.
///
/// Used on the connection's event loop only.
final class LibraryUpkeep {
    /// What is to be done.
    struct Plan: Equatable {
        /// To be named now: one's own.
        var used: [String]
        /// Seen for the first time: their day begins now.
        var found: [String]
        /// To be deleted.
        var stale: [String]
        /// To be named no more: they are gone.
        var gone: [String]
    }

    /// How often a connection names its libraries, and when it tries again after a failure.
    static let pause = (success: TimeAmount.hours(1), failure: TimeAmount.minutes(1))
    /// Milliseconds after which a library that nobody named is deleted.
    static let grace: Int64 = 86_400_000

    private let used: [String]
    private let logger: Logger
    private var next = NIODeadline.distantPast

    init(_ libraries: [RedisFunctionLibrary], logger: Logger) {
        used = libraries.filter { !$0.suffix.isEmpty }.map(\.name)
        self.logger = logger
    }

    /// What follows from the libraries that are there, and when each was named last (ms).
    static func plan(used: [String], present: [String], named: [String: Int64], now: Int64) -> Plan {
        let others = Set(present).subtracting(used).filter { $0.wholeMatch(of: ours) != nil }
        let stale = others.filter { named[$0].map { $0 < now - grace } == true }
        return Plan(
            used: used, found: others.filter { named[$0] == nil }.sorted(), stale: stale.sorted(),
            gone: named.keys.filter { !others.contains($0) && !used.contains($0) }.sorted())
    }

    /// The cluster's own: what others keep in this Redis is theirs.
    private static var ours: Regex<Substring> { #/heliograph_[a-z_]+_[0-9a-f]{8}/# }

    /// Does what is due. Called now and then while the connection is up.
    func tick(_ connection: CommandPipeline) {
        guard !used.isEmpty, NIODeadline.now() >= next, let now = connection.clock?.now?.milliseconds else { return }
        next = .now() + Self.pause.success
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

    private func perform(_ plan: Plan, _ now: Int64, _ connection: CommandPipeline) {
        var naming = RedisCommand("ZADD", .string(KeySpace.libraries))
        for name in plan.used + plan.found {
            naming.append(.int64(now))
            naming.append(.string(name))
        }
        connection.send(naming) { [self] result in
            // Where nothing can be named, as in a full Redis, nobody else may have been able to.
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
        next = .now() + Self.pause.failure
        logger.debug("could not name the function libraries in use")
    }

    /// Reads the answer of FUNCTION LIST.
    private static func names(_ reply: RedisValue) -> [String] {
        (reply.array ?? []).compactMap { library in
            let parts = library.array ?? []
            return parts.firstIndex { $0.string == "library_name" }.flatMap { parts[$0 + 1].string }
        }
    }

    private static func scores(_ reply: RedisValue) -> [String: Int64] {
        let parts = reply.array ?? []
        var scores: [String: Int64] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[index].string, let score = parts[index + 1].string else { continue }
            scores[name] = Double(score).map { Int64($0) }
        }
        return scores
    }
}
