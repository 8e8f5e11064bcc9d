/// How long to wait after failed requests: twice as long each time up to a bound, with jitter, so that receivers that
/// were down together are not asked together.
package struct RetrySchedule: Equatable, Sendable {
    /// The pause after the first failure.
    package var first: Duration
    /// The longest pause.
    package var longest: Duration

    /// Creates a schedule.
    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after some failures in a row.
    /// - Parameters:
    ///   - failures: at least 1.
    ///   - draw: a random number in 0..<1; the pause is 50 to 100 % of the full one.
    package func pause(after failures: Int64, draw: Double) -> Duration {
        let doublings = Int(min(max(failures, 1) - 1, 40))
        var pause = first
        for _ in 0..<doublings where pause < longest { pause *= 2 }
        return min(pause, longest) * (0.5 + draw / 2)
    }
}
