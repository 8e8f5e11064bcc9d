package import Pacing

/// Lets one log line of a kind through each second and counts the others, so that strangers cannot fill the log.
package struct LogThrottle: Sendable {
    /// The shortest time between two lines.
    static let pause = LocalTime.Span(.seconds(1))

    private var loggedAt: LocalTime?
    private var skipped = 0

    /// Creates one that lets the first line through.
    package init() {}

    /// Whether a line may be logged now; counts as one.
    /// - Returns: nil when not, or else how many lines since the last one were not logged.
    package mutating func admit(now: LocalTime) -> Int? {
        if let loggedAt, now - loggedAt < Self.pause {
            skipped += 1
            return nil
        }
        defer { skipped = 0 }
        loggedAt = now
        return skipped
    }
}
