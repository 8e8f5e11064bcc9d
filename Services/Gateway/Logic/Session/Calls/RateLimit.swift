package import Pacing

/// Limits acts per second, counted in windows that start with the first act.
package struct RateLimit: Equatable, Sendable {
    private static let window = LocalTime.Span(.seconds(1))

    /// The largest number of acts per second.
    package var bound: Int
    private var windowStart = LocalTime.distantPast
    private var count = 0

    /// Creates a limit of `bound` acts per second.
    package init(perSecond bound: Int) { self.bound = bound }

    /// Counts an act.
    /// - Returns: false when the limit is reached and the act must be refused.
    package mutating func admit(now: LocalTime) -> Bool {
        if now - windowStart >= Self.window {
            windowStart = now
            count = 0
        }
        guard count < bound else { return false }
        count += 1
        return true
    }
}
