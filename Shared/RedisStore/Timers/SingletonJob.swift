internal import ClusterState
package import Logging
internal import NIOCore
import ServiceLifecycle

/// A periodic job that only one process of a service runs at a time: the one that first sets the job's key in Redis.
package struct SingletonJob: Service {
    private let key: String
    private let period: Duration
    private let connection: RedisConnection
    private let logger: Logger
    private let round: @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void

    /// Creates a job.
    /// - Parameters:
    ///   - name: the job's name, unique among all services.
    ///   - period: the time from the start of one round to the next, and the time to live of the key.
    ///   - round: does the work of one round. It must call `renew` more often than every `period`; that throws when another
    ///     process has taken over. Errors thrown by `round` are logged.
    package init(
        _ name: String, every period: Duration, connection: RedisConnection, logger: Logger,
        round: @escaping @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void
    ) {
        key = KeySpace.round(name)
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
                    if try await isOurs() { try await round { try await renew() } }
                } catch {
                    logger.warning(
                        "could not finish a job's round", metadata: ["round": "\(key)", "error": "\(error)"])
                }
                // Randomised, so that the processes do not all try at the same moment.
                await connection.eventLoop.pause(for: period / 4 * Double.random(in: 1...2))
            }
        }
    }

    private var milliseconds: RedisArgument { .milliseconds(period) }

    private func isOurs() async throws -> Bool {
        try await connection.execute(RedisCommand("SET", .string(key), "1", "NX", "PX", milliseconds)).string == "OK"
    }

    private func renew() async throws {
        guard try await connection.execute(RedisCommand("PEXPIRE", .string(key), milliseconds)).int == 1 else {
            throw RedisError(code: .lost, message: "another process has taken over the round")
        }
        try Task.checkCancellation()
    }
}
