package import NIOCore

/// Waiting times between attempts: full jitter, a random time up to a bound that doubles with each failure, so that
/// everyone who lost the same server does not return to it at once.
package struct BackOff: Sendable, Equatable {
    /// The bound of the first wait; default 50 ms.
    package var base: TimeAmount
    /// The bound that later waits never pass; default 2 s.
    package var ceiling: TimeAmount

    /// Makes a policy.
    package init(base: TimeAmount = .milliseconds(50), ceiling: TimeAmount = .seconds(2)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// The bound of the wait after `attempt` failures in a row, counted from 0.
    package func bound(attempt: Int) -> TimeAmount {
        let doublings = min(max(attempt, 0), 30)
        let (grown, overflow) = base.nanoseconds.multipliedReportingOverflow(by: 1 << Int64(doublings))
        return .nanoseconds(overflow ? ceiling.nanoseconds : min(grown, ceiling.nanoseconds))
    }

    /// A random wait from zero to ``bound(attempt:)``.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> TimeAmount {
        .nanoseconds(Int64.random(in: 0...bound(attempt: attempt).nanoseconds, using: &generator))
    }
}
