/// Limits acts per second, counted in windows that start with the first act.
package struct RateLimit: Sendable {
    /// The largest number of acts per second.
    package var bound: Int
    private var windowStart: Int64 = .min
    private var count = 0

    /// Creates a limit of `bound` acts per second.
    package init(perSecond bound: Int) { self.bound = bound }

    /// Counts an act.
    /// - Parameter now: milliseconds of a monotonic clock.
    /// - Returns: false when the limit is reached and the act must be refused.
    package mutating func admit(now: Int64) -> Bool {
        if windowStart == .min || now - windowStart >= 1000 {
            windowStart = now
            count = 0
        }
        guard count < bound else { return false }
        count += 1
        return true
    }
}
