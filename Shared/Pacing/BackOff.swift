/// Exponential back-off with jitter: each pause is random, up to a bound that doubles with each failure. So the clients
/// that lost a server together do not reconnect to it together.
package struct BackOff: Sendable, Equatable {
    /// The bound of the first pause; default 50 ms.
    package var base: Duration
    /// The largest bound of any pause; default 2 s.
    package var ceiling: Duration

    package init(base: Duration = .milliseconds(50), ceiling: Duration = .seconds(2)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// The bound of the pause after `attempt` failures in a row, counted from 0.
    package func bound(attempt: Int) -> Duration {
        // A duration holds 2^30 times the longest base that makes sense, so the product does not overflow.
        min(base * (1 << min(max(attempt, 0), 30)), ceiling)
    }

    /// A pause from zero to ``bound(attempt:)``.
    /// - Parameter draw: a random number from 0, for none, to 1, for all of it.
    package func delay(attempt: Int, fromZeroBy draw: Double) -> Duration { bound(attempt: attempt) * draw }

    /// A pause of at least a half of ``bound(attempt:)``, for those who must not come again at once.
    /// - Parameter draw: a random number from 0, for a half, to 1, for all of it.
    package func delay(attempt: Int, fromHalfBy draw: Double) -> Duration {
        bound(attempt: attempt) * (0.5 + draw / 2)
    }
}
