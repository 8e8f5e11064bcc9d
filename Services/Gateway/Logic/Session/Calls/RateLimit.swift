package import Pacing

/// Limits acts per second, counted in windows that start with the first act.
package struct RateLimit: Equatable, Sendable {
    /// A second, in nanoseconds. Plain numbers, because this runs with every message, and operators of another module
    /// are not inlined.
    private static let window: Int64 = 1_000_000_000

    /// The largest number of acts per second.
    package var bound: Int {
        get { Int(narrowBound) }
        set { narrowBound = Int32(clamping: newValue) }
    }
    private var windowStart = LocalTime.distantPast
    // Narrow integers, because every session has two of these.
    private var narrowBound: Int32
    private var count: Int32 = 0

    /// Creates a limit of `bound` acts per second.
    package init(perSecond bound: Int) { narrowBound = Int32(clamping: bound) }

    /// Counts an act.
    /// - Returns: false when the limit is reached and the act must be refused.
    package mutating func admit(now: LocalTime) -> Bool {
        if now.nanoseconds - windowStart.nanoseconds >= Self.window {
            windowStart = now
            count = 0
        }
        guard count < narrowBound else { return false }
        count += 1
        return true
    }
}
