package import Logging
package import RedisStore
package import SignalingProtocol

/// What a service sets a timer for, kept as text in its set of timers.
package protocol ServiceTimer: Sendable {
    /// Reads a member of the set; nil for what no version of the service wrote.
    init?(member: String)
    /// The member of the set: unique in the service.
    var member: String { get }
}

/// For services without timers.
extension Never: ServiceTimer {
    /// There is none.
    package init?(member: String) { return nil }
    /// Never asked.
    package var member: String { switch self {} }
}

/// A service's timers, by what they are for. They are kept in Redis, so that they outlive the process that set them; one may
/// fire twice, or with nothing left to do. See `DueTimers`.
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

    /// The command that sets a timer, or moves it, for a pipeline of the caller's.
    /// - Parameter time: the Redis clock, ms.
    package func setting(_ timer: Timer, at time: Int64) -> RedisCommand {
        due.scheduling(timer.member, atMilliseconds: time)
    }

    /// Sets a timer, or moves it.
    /// - Parameter time: the Redis clock, ms.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, at time: Int64) async throws(SignalingError) {
        do {
            try await due.schedule(timer.member, atMilliseconds: time)
        } catch {
            throw error.signaling
        }
    }

    /// Sets a timer, or moves it, to a time from now on.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func set(_ timer: Timer, after delay: Duration) async throws(SignalingError) {
        try await set(timer, at: try await redis.time() + delay.wholeMilliseconds)
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

    /// Acts on timers that are due until the shutdown.
    func run(_ fired: @escaping @Sendable (Timer) async throws -> Void) async {
        await due.run { due in
            guard let timer = Timer(member: due.member) else {
                return logger.error("dropped a timer of an unknown kind", metadata: ["service": "\(service.rawValue)"])
            }
            try await fired(timer)
        }
    }
}
