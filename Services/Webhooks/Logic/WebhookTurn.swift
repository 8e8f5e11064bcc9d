/// A webhook's turn: its requests until its time is over or one of them fails. Then others have theirs.
package struct WebhookTurn: Sendable {
    /// After this time no further request is begun.
    package static let longest = Duration.seconds(2)

    private let end: ContinuousClock.Instant
    /// The requests that have failed since the last success.
    package private(set) var failures: Int64

    /// - Parameter failures: the requests that have failed since the last success of an earlier turn.
    package init(failures: Int64, now: ContinuousClock.Instant) {
        self.failures = failures
        end = now + Self.longest
    }

    /// Whether no further request is to be begun.
    package func isOver(at now: ContinuousClock.Instant) -> Bool { now >= end }

    /// Counts a request that was taken.
    package mutating func succeeded() { failures = 0 }

    /// Counts a request that was not taken.
    package mutating func failed() { failures += 1 }
}
