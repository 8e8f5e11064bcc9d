/// Keeps queries away from a PostgreSQL that does not answer, so that nobody waits for it who could go on without.
///
/// closed -> open (a query's time was over, or no connection could be made) -> probing -> closed, or -> open again. While it
/// is not closed, queries fail at once; only the probe is sent.
package struct PostgresBreaker: Sendable {
    private enum State {
        /// Queries are sent. Goes to `open`.
        case closed
        /// Queries are refused until a probe succeeds. Goes to `probing`.
        case open(failures: Int, PostgresError)
        /// The probe is under way. Goes to `closed`, `open`.
        case probing(failures: Int, PostgresError)
    }

    /// What the driver has to do.
    package enum Action: Equatable, Sendable {
        /// Wait so long, call ``probes()``, send a probe, and tell what became of it.
        case probe(after: Duration)
        /// Queries may be sent again.
        case resume
        /// Nothing.
        case none
    }

    /// The pause after the first probe that failed; it doubles with each.
    package static let firstPause = Duration.milliseconds(50)
    private let longestPause: Duration
    private var state = State.closed

    /// A breaker that lets queries through.
    /// - Parameter longestPause: between two probes.
    package init(longestPause: Duration) { self.longestPause = longestPause }

    /// Why a query is not to be sent; nil when it is.
    package var refusal: PostgresError? {
        switch state {
        case .closed: nil
        case .open(_, let cause), .probing(_, let cause):
            PostgresError(.closed, "PostgreSQL does not answer and is not asked until it does (\(cause.message))")
        }
    }

    /// A query was not answered in its time, or no connection could be made for it.
    package mutating func failed(_ error: PostgresError) -> Action {
        // Others that were sent before fail later.
        guard case .closed = state else { return .none }
        state = .open(failures: 0, error)
        return .probe(after: .zero)
    }

    /// The probe is about to be sent.
    package mutating func probes() {
        if case .open(let failures, let cause) = state { state = .probing(failures: failures, cause) }
    }

    /// The probe was answered; nil for success.
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
