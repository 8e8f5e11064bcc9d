internal import Logging
internal import Metrics
internal import PostgresStore
internal import ServiceLifecycle

/// Deletes calls from the log after the days that they are kept, in small batches.
struct CallLogPruning: Service {
    /// Calls of one step.
    private static let batch = 1000
    /// Between two steps while there is more.
    private static let breath = Duration.milliseconds(200)
    /// Between two looks.
    private static let pause = Duration.seconds(60)

    let store: CallStore
    let days: Int
    let logger: Logger

    func run() async throws {
        guard days > 0 else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let removed = await step()
                // When the pause is cancelled, so is the loop.
                try? await Task.sleep(for: removed == Self.batch ? Self.breath : Self.pause)
            }
        }
    }

    /// - Returns: how many calls went; 0 while PostgreSQL is away.
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
