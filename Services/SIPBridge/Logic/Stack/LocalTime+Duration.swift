package import Pacing

/// The bridge has few events a second, so it reckons with durations; a gateway takes ``LocalTime/Span``.
extension LocalTime {
    /// How many whole steps of this length have passed since an earlier moment.
    package func steps(of length: Duration, since earlier: LocalTime) -> Int64 {
        (nanoseconds - earlier.nanoseconds) / Span(length).nanoseconds
    }

    /// A later moment; fractions of a nanosecond are dropped.
    package static func + (time: LocalTime, duration: Duration) -> LocalTime { time + Span(duration) }

    /// The time from `right` to `left`.
    package static func - (left: LocalTime, right: LocalTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}
