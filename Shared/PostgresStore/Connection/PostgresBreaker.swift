internal import Pacing

/// A circuit breaker: while PostgreSQL does not answer, queries fail at once instead of each waiting for its timeout.
/// It opens when a query has timed out, or no connection could be made; the pool sends the probes.
package struct PostgresBreaker: Sendable {
    /// What the pool must do next.
    package enum Action: Equatable, Sendable {
        /// Wait this long, call ``probes()``, send a probe and report its result to ``probed(_:)``.
        case probe(after: Duration)
        /// Queries may be sent again.
        case resume
        /// Nothing.
        case none
    }

    /// The pause after the first failed probe; it doubles with each further failure.
    package static let firstPause = Duration.milliseconds(50)
    private let pauses: BackOff
    private var breaker = Breaker(failuresBound: 1)
    /// Why the breaker is open: the last failure; nil while it is closed.
    private var cause: PostgresError?

    /// Creates a closed breaker.
    /// - Parameter longestPause: the longest pause between two probes.
    package init(longestPause: Duration) { pauses = BackOff(base: Self.firstPause, ceiling: longestPause) }

    /// The error with which to refuse a query; nil when queries may be sent.
    package var refusal: PostgresError? {
        // At its start a process refuses a standby, but waits for a server that does not answer.
        guard let cause, cause.kind != .standby else { return cause }
        return PostgresError(.closed, "PostgreSQL does not answer; queries fail until it does (\(cause.message))")
    }

    /// Reports that a query timed out, or that no connection could be made for it.
    package mutating func failed(_ error: PostgresError) -> Action {
        // Queries sent before the breaker opened may still fail; only the first failure counts.
        guard breaker.tried(.failed) else { return .none }
        cause = error
        return .probe(after: .zero)
    }

    /// Reports that a probe is about to be sent.
    package mutating func probes() { _ = breaker.probe() }

    /// Reports a probe's result; nil for success.
    package mutating func probed(_ error: PostgresError?) -> Action {
        guard breaker.isProbing else { return .none }
        cause = error
        guard let failedProbes = breaker.probed(error == nil ? .reached : .failed) else { return .resume }
        return .probe(after: pauses.bound(attempt: failedProbes - 1))
    }
}
