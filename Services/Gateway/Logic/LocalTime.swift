/// A moment by the gateway's monotonic clock, which is that of NIO's event loops; it means nothing to other processes.
///
/// The local clock of the gateway's shards, and a type of its own, so that it can be compared neither with
/// ``SignalingProtocol/RedisTime`` nor with a number. `ContinuousClock.Instant` would count in 128 bits, which costs
/// more than is good for what happens with every frame, and `NIODeadline` would bring NIO into the logic.
package struct LocalTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since a point in time that the clock chose; never negative for a moment that the clock told.
    package let nanoseconds: Int64

    /// Makes a moment from what the clock told.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A moment before all that the clock tells, further back than any time limit reaches.
    static var distantPast: LocalTime { LocalTime(nanoseconds: .min / 2) }

    /// Whole milliseconds of the clock.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }

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
        fileprivate let nanoseconds: Int64

        /// Converts a duration; fractions of a nanosecond are dropped. It divides numbers of
        /// 128 bits, so not for every frame.
        package init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }

        fileprivate init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

        /// The same span as a `Duration`.
        package var duration: Duration { .nanoseconds(nanoseconds) }

        package static func < (left: Span, right: Span) -> Bool { left.nanoseconds < right.nanoseconds }

        /// A multiple of a span.
        static func * (span: Span, factor: Int64) -> Span { Span(nanoseconds: span.nanoseconds * factor) }
    }
}
