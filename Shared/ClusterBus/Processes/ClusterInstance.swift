internal import BusProtocol
package import ClusterState
package import Logging
package import NIOCore
package import RedisClient
internal import SignalingProtocol
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// This process's registration in the cluster: whether it may serve, and the lowest level that runs.
///
/// To be called in this order: ``check(on:)`` before anything is written, ``join(on:)`` before anything is served,
/// ``stay(on:)`` while serving, ``leave(on:)`` at the end. The connections of the last three must keep
/// ``RedisFunctionLibrary/instances`` loaded.
///
/// In a cluster all of this is at one master. While that one is away and more than half of the masters answer, a
/// process starts *on probation*: ``check(on:)`` and ``join(on:)`` return without having done their work, and
/// ``stay(on:)`` does it as soon as that master answers. Otherwise no process could be replaced during such an outage.
package final class ClusterInstance: Sendable {
    /// The build's level and layout, the pace of heartbeats, and what the process tells of itself. Of the first three
    /// only tests set other values than the defaults.
    package struct Terms: Sendable {
        /// The build's level.
        package var level = ClusterLevel.current
        /// The layout of Redis that the build needs; nil (the default) for that of the Redis' flavour.
        package var layout: RedisLayout?
        /// For how long processes must have renewed their records without a pause before the level may rise: those that
        /// could not, because Redis was away, are back by then.
        package var settling = RunningInstances.timeToLive
        /// The time between heartbeats, varied at random by up to a quarter, so that
        /// processes started together spread out.
        package var pause = Duration.seconds(5)
        /// Whether the process serves the server API; nil (the default) where that is not its work.
        package var servesAPI: Bool?
        /// What the ids of a gateway's shards begin with; nil (the default) for other processes.
        package var gateway: String?
        /// Called once when the process has been asked to drain; by default it sends itself SIGTERM, so that it ends as
        /// when its host ends it.
        package var drain: @Sendable () -> Void = { _ = kill(getpid(), SIGTERM) }

        package init() {}
    }

    /// The time between attempts while Redis does not answer.
    private static let retryPause = Duration.milliseconds(500)

    /// The process's name and a random part: a restarted process must not be taken for the one before.
    package let id: String
    private let kind: String
    private let terms: Terms
    private let layout: RedisLayout
    private let configuration: RedisConfiguration
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        var since: RedisTime?
        var clusterLevel: Int64
        var runningLevel: Int64
        var isOnProbation = false
        var isDraining = false
    }

    /// The master of the cluster's records does not answer, though more than half of the masters do.
    private struct RecordsAway: Error {
        let cause: SignalingError
    }

    /// Creates the registration of a process that has not joined yet.
    /// - Parameter name: the process's name among its kind.
    package init(
        kind: String, name: String, redis configuration: RedisConfiguration, terms: Terms = Terms(), logger: Logger
    ) {
        id = "\(name).\(SecureRandom.hex(bytes: 3))"
        self.kind = kind
        self.terms = terms
        layout = terms.layout ?? configuration.bus.redis
        self.configuration = configuration
        self.logger = logger
        state = Mutex(State(since: nil, clusterLevel: terms.level - 1, runningLevel: terms.level - 1))
    }

    /// The lowest level of the running processes, as of the last heartbeat: only formats that a build of this
    /// level can read may be written. Before the process has joined, one less than the build's own. Keeps its
    /// value while Redis does not answer, and does not rise in the first 20 s after that, in which processes
    /// of a lower level may come back.
    package var clusterLevel: Int64 { state.withLock { $0.clusterLevel } }

    /// The lowest level of the processes that were registered at the last heartbeat. Unlike ``clusterLevel`` it rises
    /// at once, so that it may be too high for the seconds in which processes come back after an outage: it decides
    /// only whether something is sent that an older process refuses.
    package var runningLevel: Int64 { state.withLock { $0.runningLevel } }

    /// Whether the process has joined; until then it serves only ``isOnProbation``.
    package var hasJoined: Bool { state.withLock { $0.since != nil } }

    /// Whether the process may serve without having been checked, because the master with
    /// the cluster's records is away.
    package var isOnProbation: Bool { state.withLock { $0.isOnProbation } }

    /// What is missing of a process that is on probation, for `/readyz`; nil for others.
    package var remark: String? {
        isOnProbation ? "the layout and the levels are not checked yet: their master is away" : nil
    }

    /// Waits until Redis answers, then checks that the process may join. Writes nothing but the layout, where there is
    /// none. Afterwards the process may be on probation.
    /// - Throws: ``ClusterRefusal``, or `CancellationError`.
    package func check(on eventLoop: any EventLoop) async throws {
        // Computes the buckets' tags, which takes some milliseconds, now rather than at the first login.
        _ = Buckets.shared
        // A connection of its own: one that loads libraries would write before anything is checked.
        let connection = RedisClient(
            configuration: configuration, eventLoop: eventLoop, keepsClock: false, logger: logger)
        let refusal: ClusterRefusal?
        do {
            try await verify(connection)
            connection.start()
            refusal = try await verdict(connection)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
        if let refusal { throw refusal }
    }

    /// The outcome of the check; nil when the process may join, or is on probation now.
    private func verdict(_ connection: RedisClient) async throws -> ClusterRefusal? {
        do {
            return try await untilAnswered(
                { () async throws(SignalingError) in try await self.refusal(connection) },
                unless: { await connection.answersWithout(slot: RunningInstances.slot) })
        } catch let away as RecordsAway {
            beginProbation(away)
            return nil
        }
    }

    /// Registers the process as running. If this lowers the cluster's level, returns only after the other processes
    /// have learnt the new level. Returns at once on probation, which may also begin here.
    /// - Throws: ``ClusterRefusal``, or `CancellationError`.
    package func join(on redis: RedisFailover) async throws {
        guard !isOnProbation else { return }
        do {
            try await register(on: redis)
        } catch let away as RecordsAway {
            beginProbation(away)
        }
    }

    private func beginProbation(_ away: RecordsAway) {
        state.withLock { $0.isOnProbation = true }
        logger.warning(
            "the master of the layout and levels is away: starting without them, and checking them when it is back",
            metadata: ["error": "\(away.cause)"])
    }

    /// Waits until the master of the cluster's records answers, then does what the start has left undone.
    /// - Throws: ``ClusterRefusal``, or `CancellationError`.
    private func endProbation(on redis: RedisFailover) async throws {
        let refusal = try await untilAnswered(on: redis) { connection async throws(SignalingError) in
            try await self.refusal(connection)
        }
        if let refusal { throw refusal }
        try await register(on: redis)
        logger.notice("the layout and the levels are checked, and this process has joined")
    }

    private func register(on redis: RedisFailover) async throws {
        let present = try await untilAnswered(on: redis) { connection async throws(SignalingError) in
            try await RunningInstances.levels(connection).min()
        }
        let since = try await untilAnswered(on: redis) { connection async throws(SignalingError) in
            try await connection.time(ofSlot: RunningInstances.slot)
        }
        let levels = try await untilAnswered(on: redis) { connection async throws(SignalingError) in
            try await self.renew(on: connection, since: since)
        }
        // Another process may have joined since the check.
        if let refusal = ClusterRefusal(own: terms.level, running: [levels.least, levels.highest]) {
            _ = try await untilAnswered(on: redis) { connection async throws(SignalingError) in
                try await connection.answer(to: self.call("instance_leave", [.string(self.id)]))
            }
            throw refusal
        }
        if let present, terms.level < present {
            logger.notice(
                "this process lowers the cluster's level; waiting until all processes know",
                metadata: ["level": "\(terms.level)"])
            try await Task.sleep(for: terms.pause * 3 / 2)
        }
        // A process that is missing is at most one level below the highest of those that run: otherwise it was refused.
        let before = max(terms.level, levels.highest) - 1
        state.withLock {
            $0 = State(
                since: since, clusterLevel: settled(levels, before: before), runningLevel: levels.least)
        }
    }

    /// Renews the process's heartbeat and learns the cluster's level, until cancelled.
    /// Before, a process on probation joins.
    /// - Throws: ``ClusterRefusal`` when a process on probation must not serve.
    package func stay(on redis: RedisFailover) async throws {
        if isOnProbation {
            do {
                try await endProbation(on: redis)
            } catch is CancellationError {
                return
            }
        }
        while let since = state.withLock({ $0.since }) {
            do {
                try await Task.sleep(for: terms.pause * Double.random(in: 0.75...1.25))
                let levels = try await redis.perform { connection async throws(SignalingError) in
                    try await self.renew(on: connection, since: since)
                }
                adopt(levels)
                if levels.isDraining { drain() }
            } catch is CancellationError {
                return
            } catch {
                logger.warning("could not renew this process's record", metadata: ["error": "\(error)"])
            }
        }
    }

    private func drain() {
        let isNew = state.withLock { state in
            defer { state.isDraining = true }
            return !state.isDraining
        }
        guard isNew else { return }
        logger.notice("asked to drain by an operator: ending as at SIGTERM")
        terms.drain()
    }

    /// Deletes the process's record, which would otherwise expire after ``RunningInstances/timeToLive``.
    package func leave(on redis: RedisFailover) async {
        guard hasJoined, redis.isConnected else { return }
        do throws(SignalingError) {
            _ = try await redis.perform { connection async throws(SignalingError) in
                try await connection.answer(to: self.call("instance_leave", [.string(self.id)]))
            }
        } catch {
            logger.debug("could not delete this process's record", metadata: ["error": "\(error)"])
        }
    }

    /// The levels of the running processes.
    private struct Levels: Sendable {
        let least: Int64
        let highest: Int64
        /// For how long processes have renewed their records without a pause.
        let unbroken: Duration
        /// Whether this process has been asked to drain.
        let isDraining: Bool
    }

    /// The cluster's level, which falls at once, but rises only when no process is missing.
    private func settled(_ levels: Levels, before: Int64) -> Int64 {
        levels.unbroken >= terms.settling ? levels.least : min(levels.least, before)
    }

    private func adopt(_ levels: Levels) {
        let changed: Int64? = state.withLock { state in
            state.runningLevel = levels.least
            let level = settled(levels, before: state.clusterLevel)
            guard level != state.clusterLevel else { return nil }
            state.clusterLevel = level
            return level
        }
        if let changed { logger.notice("the cluster's level has changed", metadata: ["level": "\(changed)"]) }
    }

    private func renew(on connection: RedisClient, since: RedisTime) async throws(SignalingError) -> Levels {
        var record = InstanceRecord(
            kind: kind, level: terms.level, version: ClusterLevel.release, host: Self.host, since: since,
            files: Self.files)
        (record.servesAPI, record.gateway) = (terms.servesAPI, terms.gateway)
        let layout = layout.words
        let arguments: [RedisArgument] = [
            .string(id), .int64(terms.level), .milliseconds(RunningInstances.timeToLive), .int(layout.count),
        ]
        let reply = try await connection.answer(to: call("instance_renew", arguments + layout + record.words))
        guard let parts = reply.array, parts.count == 4, let least = parts[0].int, let highest = parts[1].int,
            let unbroken = parts[2].int
        else { throw .unreadableAnswer }
        return Levels(
            least: least, highest: highest, unbroken: .milliseconds(unbroken), isDraining: parts[3].int == 1)
    }

    private func call(_ function: String, _ arguments: [RedisArgument]) -> RedisCommand {
        RunningInstances.call(function, of: id, arguments)
    }

    /// Nil when the process may join.
    private func refusal(_ connection: RedisClient) async throws(SignalingError) -> ClusterRefusal? {
        let check = LayoutCheck(needed: layout)
        let found = try await connection.answer(to: RedisCommand("HGETALL", key: KeySpace.layout))
        if let refusal = check.refusal(found) { return refusal }
        if let refusal = ClusterRefusal(own: terms.level, running: try await RunningInstances.levels(connection)) {
            return refusal
        }
        return found.texts.isEmpty ? check.refusal(try await check.claim(on: connection)) : nil
    }

    /// Waits until a server of Redis says how it is run.
    private func verify(_ redis: RedisClient) async throws {
        let step = { () async throws(SignalingError) -> ClusterRefusal? in
            do throws(RedisError) {
                try await redis.verify()
                return nil
            } catch {
                guard error.code == .flavour else { throw error.signaling }
                return .redis(error.message)
            }
        }
        let refusal = try await untilAnswered(step, unless: { false })
        if let refusal { throw refusal }
    }

    /// Repeats a step of ``join(on:)`` as ``untilAnswered(_:)`` does.
    private func untilAnswered<Value: Sendable>(
        on redis: RedisFailover, _ step: @escaping @Sendable (RedisClient) async throws(SignalingError) -> Value
    ) async throws -> Value {
        try await untilAnswered(
            { () async throws(SignalingError) in try await redis.perform(step) },
            unless: { await redis.answersWithout(slot: RunningInstances.slot) })
    }

    /// Repeats a step while Redis does not answer.
    /// - Parameter isAway: whether only the master of the cluster's records is away, which ends the
    ///   attempts, unless the process is on probation already. A step waits for a failover before it fails,
    ///   so this is asked after that time.
    /// - Throws: ``RecordsAway``, `CancellationError`.
    private func untilAnswered<Value>(
        _ step: () async throws(SignalingError) -> Value, unless isAway: () async -> Bool
    ) async throws -> Value {
        var isSaid = isOnProbation
        while true {
            do throws(SignalingError) {
                return try await step()
            } catch {
                if !isOnProbation, await isAway() { throw RecordsAway(cause: error) }
                if !isSaid { logger.warning("Redis does not answer yet", metadata: ["error": "\(error)"]) }
                isSaid = true
            }
            try await Task.sleep(for: Self.retryPause)
        }
    }

    /// How many files and sockets this process may have open; nil without a limit.
    private static var files: Int64? {
        var limit = rlimit()
        #if canImport(Glibc)
            let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            let result = getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        guard result == 0 else { return nil }
        return Int64(exactly: limit.rlim_cur)
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
