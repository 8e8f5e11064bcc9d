internal import ClusterState
internal import Logging
internal import NIOCore
internal import SignalingProtocol

/// Deletes the libraries of Redis Functions that no process uses any more: each release brings new ones, see
/// ``RedisFunctionLibrary``.
///
/// Every hour, each connection records the names of its libraries in a sorted set, scored by the time (ms,
/// Redis' clock), and deletes the libraries of its server that no connection has recorded for seven days.
/// Deleting one too many does no harm: a connection whose library is missing loads it again. A cluster has
/// one such set for all its masters.
///
/// Use it on the connection's event loop only.
package final class LibraryUpkeep {
    /// What one round must do.
    struct Plan: Equatable {
        /// The connection's own libraries, to be recorded now.
        var used: [String]
        /// Libraries seen for the first time, to be recorded now: their seven days begin.
        var found: [String]
        /// Libraries to delete.
        var stale: [String]
        /// Names to be removed from the record, after every master has had another seven
        /// days to delete these libraries.
        var gone: [String]
    }

    /// The pause after a successful round, and after a failed one.
    static let pause = (success: Duration.seconds(3600), failure: Duration.seconds(60))
    /// How long a library must not have been recorded before it is deleted.
    static let grace = Duration.seconds(7 * 86_400)

    /// Sends a command about the record, with its key first.
    typealias Send = (RedisCommand, @escaping (Result<RedisValue, RedisError>) -> Void) -> Void

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
            gone: named.filter { !used.contains($0.key) && $0.value + grace + grace < now }.keys.sorted())
    }

    /// Matches the cluster's own libraries; others in the same Redis are left alone.
    private static var ours: Regex<Substring> { #/heliograph_[a-z_]+_[0-9a-f]{8}/# }

    /// Starts a round if one is due. Called from time to time while the connection is up.
    /// - Parameters:
    ///   - connection: to the server whose libraries are looked after.
    ///   - send: sends what concerns the record, which a cluster keeps on one of its masters.
    func tick(_ connection: CommandPipeline, record send: @escaping Send) {
        guard !used.isEmpty, NIODeadline.now() >= next, let now = connection.clock?.now else { return }
        next = .now() + TimeAmount(Self.pause.success)
        let results = ResultCollector(count: 2) { [self] outcomes in
            let replies = outcomes.compactMap { try? $0.get() }
            guard replies.count == outcomes.count else { return failed() }
            let plan = Self.plan(
                used: used, present: Self.names(replies[0]), named: Self.scores(replies[1]), now: now)
            perform(plan, now, connection, send)
        }
        connection.send(RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", "heliograph_*")) { results.set(0, $0) }
        send(RedisCommand("ZRANGE", key: KeySpace.libraries, 0, -1, "WITHSCORES")) { results.set(1, $0) }
    }

    private func perform(_ plan: Plan, _ now: RedisTime, _ connection: CommandPipeline, _ send: @escaping Send) {
        var naming = RedisCommand("ZADD", key: KeySpace.libraries)
        for name in plan.used + plan.found {
            naming.append(.time(now))
            naming.append(.string(name))
        }
        send(naming) { [self] result in
            // When nothing can be recorded, for example at `maxmemory`, other connections may have
            // failed too, so nothing is deleted.
            guard case .success = result else { return failed() }
            for name in plan.stale {
                connection.send(RedisCommand("FUNCTION", "DELETE", .string(name))) { [logger] result in
                    guard case .success = result else { return }
                    logger.notice("deleted unused function library", metadata: ["library": "\(name)"])
                }
            }
            guard !plan.gone.isEmpty else { return }
            var forgetting = RedisCommand("ZREM", key: KeySpace.libraries)
            for name in plan.gone { forgetting.append(.string(name)) }
            send(forgetting) { _ in }
        }
    }

    private func failed() {
        next = .now() + TimeAmount(Self.pause.failure)
        logger.debug("could not register the function libraries in use")
    }

    /// The libraries' names in the reply to FUNCTION LIST.
    package static func names(_ reply: RedisValue) -> [String] {
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
