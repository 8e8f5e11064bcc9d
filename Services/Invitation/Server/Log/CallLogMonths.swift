internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle

/// Makes the months of the call log, and the days and months of other histories, ahead of time, and removes those
/// whose rows have all passed their retention time.
///
/// A call for which there is no month is stored nevertheless, and moves to its month once that is made.
struct CallLogMonths: Service {
    private static let pause = Duration.seconds(600)
    /// So that several instances do not wait for each other's locks.
    private static let jitter = 0.5...1.0

    let months: CallMonths
    let histories: Histories
    /// The retention time in days; 0: for ever.
    let days: Int
    let logger: Logger

    func run() async throws {
        await PeriodicTask(
            every: Self.pause, jitter: Self.jitter, complaint: "could not make or remove months of the call log",
            logger: logger
        ).run {
            try await makeAndRemove()
            try await tendHistories()
        }
    }

    /// Makes the parts of the other histories, and removes what `heliographctl retention` says is past.
    private func tendHistories() async throws {
        let made = try await histories.makeDays()
        if made > 0 { logger.info("made parts of histories", metadata: ["parts": "\(made)"]) }
        for part in try await histories.past() where try await histories.remove(part) {
            logger.info("removed a part of a history", metadata: ["table": "\(part.name)"])
        }
    }

    private func makeAndRemove() async throws {
        let made = try await months.make()
        if made > 0 { logger.info("made months of the call log", metadata: ["months": "\(made)"]) }
        guard days > 0 else { return }
        for month in try await months.list(olderThanDays: days) where try await months.remove(month) {
            logger.info("removed a month of the call log", metadata: ["table": "\(month.name)"])
        }
    }
}
