internal import Logging
internal import Metrics
internal import PostgresStore
internal import ServiceLifecycle

/// Deletes calls from the log when their retention time has passed, in small batches.
struct CallLogPruning: Service {
    /// The number of calls deleted by one statement.
    private static let batch = 1000
    /// The pause after a full batch.
    private static let breath = Duration.milliseconds(200)
    /// The pause after a batch that was not full.
    private static let pause = Duration.seconds(60)

    let store: CallStore
    let days: Int
    let logger: Logger

    func run() async throws {
        guard days > 0 else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let removed = await step()
                // Cancelling the pause also ends the loop.
                try? await Task.sleep(for: removed == Self.batch ? Self.breath : Self.pause)
            }
        }
    }

    /// - Returns: the number of deleted calls; 0 when PostgreSQL does not answer.
    private func step() async -> Int {
        do {
            let removed = try await store.prune(olderThanDays: days, limit: Self.batch)
            InvitationMetrics.logPruned.increment(by: removed)
            return removed
        } catch {
            logger.warning("could not prune the call log", metadata: ["error": "\(error)"])
            return 0
        }
    }
}
