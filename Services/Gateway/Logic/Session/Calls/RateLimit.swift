package import Pacing

/// Limits acts per second, counted in windows that start with the first act.
package struct RateLimit: Equatable, Sendable {
    /// A second, in nanoseconds. Plain numbers, because this runs with every message, and operators of another module
    /// are not inlined.
    private static let window: Int64 = 1_000_000_000

    /// The largest number of acts per second.
    package var bound: Int
    private var windowStart = LocalTime.distantPast
    private var count = 0

    /// Creates a limit of `bound` acts per second.
    package init(perSecond bound: Int) { self.bound = bound }

    /// Counts an act.
    /// - Returns: false when the limit is reached and the act must be refused.
    package mutating func admit(now: LocalTime) -> Bool {
        if now.nanoseconds - windowStart.nanoseconds >= Self.window {
            windowStart = now
            count = 0
        }
        guard count < bound else { return false }
        count += 1
        return true
    }
}
