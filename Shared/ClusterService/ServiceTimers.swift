internal import ClusterState
package import Logging
package import RedisStore
package import SignalingProtocol

/// A service's timers, addressed by what they are for. They are stored in Redis, so that they outlive the process that
/// set them. A timer may fire twice, or when nothing is left to do. See `DueTimers`.
package struct ServiceTimers<Timer: ServiceTimer>: Sendable {
    private let due: DueTimers
    private let redis: RedisConnection
    private let service: ServiceName
    private let logger: Logger

    /// The timers of a service.
    package init(service: ServiceName, connection: RedisConnection, logger: Logger) {
        due = DueTimers(service: service, connection: connection)
        redis = connection
        self.service = service
        self.logger = logger
    }

    /// The Redis command that sets or moves a timer, for the caller to send in a pipeline.
    package func setting(_ timer: Timer, at time: RedisTime) -> RedisCommand {
        due.scheduling(timer.member, at: time)
    }

    /// Sets or moves a timer.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, at time: RedisTime) async throws(SignalingError) {
        do {
            try await due.schedule(timer.member, at: time)
        } catch {
            throw error.signaling
        }
    }

    /// Sets or moves a timer to fire after `delay`.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, after delay: Duration) async throws(SignalingError) {
        try await set(timer, at: try await redis.time() + delay)
    }

    /// Removes a timer; no effect if there is none.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func cancel(_ timer: Timer) async throws(SignalingError) {
        do {
            try await due.cancel(timer.member)
        } catch {
            throw error.signaling
        }
    }

    /// Handles due timers until shutdown.
    func run(_ fired: @escaping @Sendable (Timer) async throws -> Void) async {
        await due.run { due in
            guard let timer = Timer(member: due.member) else {
                return logger.error("dropped a timer of an unknown kind", metadata: ["service": "\(service.rawValue)"])
            }
            try await fired(timer)
        }
    }
}
