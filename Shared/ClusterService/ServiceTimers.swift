internal import ClusterBus
internal import ClusterState
package import Logging
package import RedisClient
package import SignalingProtocol

/// A service's timers, addressed by what they are for. They are stored in Redis, so that they outlive the process that
/// set them. A timer may fire twice, or when nothing is left to do. See `DueTimers`.
package struct ServiceTimers<Timer: ServiceTimer>: Sendable {
    /// By the number of the partition.
    private let due: [DueTimers]
    private let redis: RedisClient
    private let service: ServiceName
    private let logger: Logger

    /// The timers of a service.
    package init(service: ServiceName, connection: RedisClient, logger: Logger) {
        due = connection.bus.partitions.map {
            DueTimers(service: service, connection: connection, partition: $0)
        }
        redis = connection
        self.service = service
        self.logger = logger
    }

    /// The Redis command that sets or moves a timer, for the caller to send in a pipeline.
    package func setting(_ timer: Timer, at time: RedisTime) -> RedisCommand {
        due(timer).scheduling(timer.member, at: time)
    }

    /// Sets or moves a timer.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, at time: RedisTime) async throws(SignalingError) {
        do {
            try await due(timer).schedule(timer.member, at: time)
        } catch {
            throw error.signaling
        }
    }

    /// Sets or moves a timer to fire after `delay`.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, after delay: Duration) async throws(SignalingError) {
        try await set(timer, after: delay, in: redis.bus.partition(of: timer.subject))
    }

    /// Sets or moves a timer to fire after `delay` that may be kept in any of some partitions: in
    /// the first whose server answers.
    /// - Parameter partitions: at least one.
    /// - Throws: `SignalingError` when Redis does not answer.
    func set(
        _ timer: Timer, after delay: Duration, inOneOf partitions: [BusPartition]
    ) async throws(SignalingError) {
        let reachable = await redis.read { [redis] in partitions.first { redis.isReachable(slot: $0.slot) } }
        try await set(timer, after: delay, in: reachable ?? partitions[0])
    }

    private func set(
        _ timer: Timer, after delay: Duration, in partition: BusPartition
    ) async throws(SignalingError) {
        let time = try await redis.time(ofSlot: partition.slot) + delay
        do {
            try await due[partition.number].schedule(timer.member, at: time)
        } catch {
            throw error.signaling
        }
    }

    /// The Redis command that removes a timer if there is one.
    package func cancelling(_ timer: Timer) -> RedisCommand { due(timer).cancelling(timer.member) }

    /// Removes a timer; no effect if there is none.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func cancel(_ timer: Timer) async throws(SignalingError) {
        do {
            try await due(timer).cancel(timer.member)
        } catch {
            throw error.signaling
        }
    }

    /// Handles due timers until shutdown.
    func run(_ fired: @escaping @Sendable (Timer) async throws -> Void) async {
        await withTaskGroup { tasks in
            for due in due { tasks.addTask { await run(due, fired) } }
        }
    }

    private func run(_ due: DueTimers, _ fired: @escaping @Sendable (Timer) async throws -> Void) async {
        await due.run { due in
            guard let timer = Timer(member: due.member) else {
                return logger.error("dropped a timer of an unknown kind", metadata: ["service": "\(service.rawValue)"])
            }
            try await fired(timer)
        }
    }

    private func due(_ timer: Timer) -> DueTimers { due[redis.bus.partition(of: timer.subject).number] }
}
