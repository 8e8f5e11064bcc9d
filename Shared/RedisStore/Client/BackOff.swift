package import NIOCore

/// Exponential back-off with full jitter: each pause is random, up to a bound that doubles with each failure. So the clients
/// that lost a server together do not reconnect to it together.
package struct BackOff: Sendable, Equatable {
    /// The bound of the first pause; default 50 ms.
    package var base: TimeAmount
    /// The largest bound of any pause; default 2 s.
    package var ceiling: TimeAmount

    package init(base: TimeAmount = .milliseconds(50), ceiling: TimeAmount = .seconds(2)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// The bound of the pause after `attempt` failures in a row, counted from 0.
    package func bound(attempt: Int) -> TimeAmount {
        let doublings = min(max(attempt, 0), 30)
        let (grown, overflow) = base.nanoseconds.multipliedReportingOverflow(by: 1 << Int64(doublings))
        return .nanoseconds(overflow ? ceiling.nanoseconds : min(grown, ceiling.nanoseconds))
    }

    /// A random pause from zero to ``bound(attempt:)``.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> TimeAmount {
        .nanoseconds(Int64.random(in: 0...bound(attempt: attempt).nanoseconds, using: &generator))
    }
}
