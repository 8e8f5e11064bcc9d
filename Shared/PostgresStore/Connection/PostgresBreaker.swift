/// A circuit breaker: while PostgreSQL does not answer, queries fail at once instead of each waiting for its timeout.
///
/// closed -> open (a query timed out, or no connection could be made) -> probing -> closed, or open again. Unless it is
/// closed, only probes are sent.
package struct PostgresBreaker: Sendable {
    private enum State {
        /// Queries are sent. Goes to `open`.
        case closed
        /// Queries are refused; the next probe is scheduled. Goes to `probing`.
        case open(failures: Int, PostgresError)
        /// A probe is running. Goes to `closed`, `open`.
        case probing(failures: Int, PostgresError)
    }

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
    private let longestPause: Duration
    private var state = State.closed

    /// Creates a closed breaker.
    /// - Parameter longestPause: the longest pause between two probes.
    package init(longestPause: Duration) { self.longestPause = longestPause }

    /// The error with which to refuse a query; nil when queries may be sent.
    package var refusal: PostgresError? {
        switch state {
        case .closed: nil
        // At its start a process refuses a standby, but waits for a server that does not answer.
        case .open(_, let cause), .probing(_, let cause):
            cause.kind == .standby
                ? cause
                : PostgresError(.closed, "PostgreSQL does not answer; queries fail until it does (\(cause.message))")
        }
    }

    /// Reports that a query timed out, or that no connection could be made for it.
    package mutating func failed(_ error: PostgresError) -> Action {
        // Queries sent before the breaker opened may still fail; only the first failure counts.
        guard case .closed = state else { return .none }
        state = .open(failures: 0, error)
        return .probe(after: .zero)
    }

    /// Reports that a probe is about to be sent.
    package mutating func probes() {
        if case .open(let failures, let cause) = state { state = .probing(failures: failures, cause) }
    }

    /// Reports a probe's result; nil for success.
    package mutating func probed(_ error: PostgresError?) -> Action {
        guard case .probing(let failures, _) = state else { return .none }
        guard let error else {
            state = .closed
            return .resume
        }
        state = .open(failures: failures + 1, error)
        return .probe(after: min(Self.firstPause * (1 << min(failures, 10)), longestPause))
    }
}
