internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics

/// Deletes calls from the log when their retention time has passed, in small batches. Months of which nothing is left
/// are removed by ``CallLogMonths``.
struct CallLogPruning: Service {
    /// The number of calls deleted by one statement.
    private static let batch = 1000
    /// The pause after a full batch.
    private static let pauseBetweenBatches = Duration.milliseconds(200)
    /// The pause after a batch that was not full.
    private static let pause = Duration.seconds(60)

    let store: CallStore
    let days: Int
    let logger: Logger

    func run() async throws {
        guard days > 0 else { return try await gracefulShutdown() }
        await PeriodicTask(every: Self.pause, complaint: "could not prune the call log", logger: logger).run {
            try await prune()
        }
    }

    private func prune() async throws {
        while true {
            let removed = try await store.prune(olderThanDays: days, limit: Self.batch)
            InvitationMetrics.shared.logPruned.increment(by: removed)
            guard removed >= Self.batch, await Task.pause(Self.pauseBetweenBatches) else { return }
        }
    }
}
