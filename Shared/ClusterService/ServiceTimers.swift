internal import ClusterState
package import Logging
package import RedisStore
package import SignalingProtocol

/// A service's timers, addressed by what they are for. They are stored in Redis, so that they outlive the process that
/// set them. A timer may fire twice, or when nothing is left to do. See `DueTimers`.
package struct ServiceTimers<Timer: ServiceTimer>: Sendable {
    /// By the number of the partition.
    private let due: [DueTimers]
    private let redis: RedisCluster
    private let service: ServiceName
    private let logger: Logger

    /// The timers of a service.
    package init(service: ServiceName, connection: RedisCluster, logger: Logger) {
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
        let slot = redis.bus.partition(of: timer.subject).slot
        try await set(timer, at: try await redis.time(ofSlot: slot) + delay)
    }

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
