internal import ClusterState
package import Logging
internal import NIOCore
package import RedisClient
import ServiceLifecycle

/// A periodic job that only one process of a service runs at a time: the one that holds the job's ``RoundLock``.
package struct SingletonJob: Service {
    private let lock: RoundLock
    private let period: Duration
    private let connection: RedisClient
    private let logger: Logger
    private let round: @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void

    /// Creates a job.
    /// - Parameters:
    ///   - name: the job's name, unique among all services.
    ///   - period: the time from the start of one round to the next, and the time to live of the lock.
    ///   - round: does the work of one round. It must call `renew` more often than every `period`; that throws when
    ///     another process has taken over. Errors thrown by `round` are logged.
    package init(
        _ name: String, every period: Duration, connection: RedisClient, logger: Logger,
        round: @escaping @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void
    ) {
        lock = RoundLock(key: KeySpace.round(name), timeToLive: period, connection: connection)
        self.period = period
        self.connection = connection
        self.logger = logger
        self.round = round
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                do {
                    if try await lock.take() { try await round { try await lock.renew() } }
                } catch {
                    logger.warning(
                        "could not finish a job's round", metadata: ["round": "\(lock.key)", "error": "\(error)"])
                }
                // Randomised, so that the processes do not all try at the same moment.
                await connection.eventLoop.pause(for: period / 4 * Double.random(in: 1...2))
            }
        }
    }
}
