/// A bound on acts per second, counted in windows that start with the first act.
package struct RateLimit: Sendable {
    /// Acts in a second at most.
    package var bound: Int
    private var windowStart: Int64 = .min
    private var count = 0

    /// At most `bound` acts in each second.
    package init(perSecond bound: Int) { self.bound = bound }

    /// Counts an act.
    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: false when the bound is hit: the act must be refused.
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
