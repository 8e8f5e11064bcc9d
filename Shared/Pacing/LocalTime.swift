/// A moment by a monotonic clock of this process; it means nothing to other processes.
///
/// A type of its own, so that it can be compared neither with Redis' time nor with a number. `ContinuousClock.Instant`
/// would count in 128 bits, which costs more than is good for what happens with every frame, and `NIODeadline` would
/// bring NIO into the logic.
package struct LocalTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since a point in time that the clock chose; never negative for a moment that the clock told.
    package let nanoseconds: Int64

    /// Makes a moment from what the clock told.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Makes a moment from milliseconds of the clock.
    package init(milliseconds: Int64) { nanoseconds = milliseconds * 1_000_000 }

    /// A moment before all that the clock tells, further back than any time limit reaches.
    package static var distantPast: LocalTime { LocalTime(nanoseconds: .min / 2) }

    /// Whole milliseconds of the clock.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// A later moment.
    package static func + (time: LocalTime, span: Span) -> LocalTime {
        LocalTime(nanoseconds: time.nanoseconds + span.nanoseconds)
    }

    /// The time span from `right` to `left`.
    package static func - (left: LocalTime, right: LocalTime) -> Span {
        Span(nanoseconds: left.nanoseconds - right.nanoseconds)
    }

    /// The difference of two moments in one machine word.
    ///
    /// Settings and constants are a `Duration`; those that are needed with every frame are
    /// converted once, when they are read.
    package struct Span: Sendable, Hashable, Comparable {
        /// Its length.
        package let nanoseconds: Int64

        /// Converts a duration; fractions of a nanosecond are dropped. It divides numbers of
        /// 128 bits, so not for every frame.
        package init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }

        /// Makes a span from nanoseconds.
        package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

        /// The same span as a `Duration`.
        package var duration: Duration { .nanoseconds(nanoseconds) }

        package static func < (left: Span, right: Span) -> Bool { left.nanoseconds < right.nanoseconds }

        /// A multiple of a span.
        package static func * (span: Span, factor: Int64) -> Span { Span(nanoseconds: span.nanoseconds * factor) }
    }
}

// The generic operators of `Comparable` would not be specialized in other modules, which compare with every message.
extension LocalTime {
    package static func <= (left: LocalTime, right: LocalTime) -> Bool { left.nanoseconds <= right.nanoseconds }

    package static func > (left: LocalTime, right: LocalTime) -> Bool { left.nanoseconds > right.nanoseconds }

    package static func >= (left: LocalTime, right: LocalTime) -> Bool { left.nanoseconds >= right.nanoseconds }
}

extension LocalTime.Span {
    package static func <= (left: Self, right: Self) -> Bool { left.nanoseconds <= right.nanoseconds }

    package static func > (left: Self, right: Self) -> Bool { left.nanoseconds > right.nanoseconds }

    package static func >= (left: Self, right: Self) -> Bool { left.nanoseconds >= right.nanoseconds }
}
