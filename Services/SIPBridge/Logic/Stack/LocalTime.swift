/// A moment by this process's monotonic clock; it means nothing to other processes.
///
/// A separate type, so that it cannot be mistaken for a time span or compared with a moment of another clock.
package struct LocalTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since a point in time that the clock chose.
    private let nanoseconds: Int64

    /// Makes a moment from milliseconds of the clock.
    package init(milliseconds: Int64) { nanoseconds = milliseconds * 1_000_000 }

    /// Whole milliseconds of the clock.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// How many whole steps of this length have passed since an earlier moment.
    package func steps(of length: Duration, since earlier: LocalTime) -> Int64 {
        (nanoseconds - earlier.nanoseconds) / Self.nanoseconds(length)
    }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// A later moment; fractions of a nanosecond are dropped.
    package static func + (time: LocalTime, span: Duration) -> LocalTime {
        LocalTime(nanoseconds: time.nanoseconds + nanoseconds(span))
    }

    /// The time span from `right` to `left`.
    package static func - (left: LocalTime, right: LocalTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    private static func nanoseconds(_ span: Duration) -> Int64 {
        span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000
    }
}
