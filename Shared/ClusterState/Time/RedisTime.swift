/// A moment by Redis' clock, which all processes agree on.
///
/// A type of its own: a moment of this process' clocks cannot be compared with it, nor a span be taken for one.
package struct RedisTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970, as functions and stored records have them.
    package let milliseconds: Int64

    /// A moment that Redis told.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The answer to TIME, which is seconds and microseconds; nil for anything else.
    package init?(seconds: Int64?, microseconds: Int64?) {
        guard let seconds, let microseconds else { return nil }
        milliseconds = seconds * 1000 + microseconds / 1000
    }

    /// Milliseconds, as text.
    package var description: String { "\(milliseconds)" }

    /// Whether `left` is earlier.
    package static func < (left: RedisTime, right: RedisTime) -> Bool { left.milliseconds < right.milliseconds }

    /// A later moment; fractions of a millisecond are dropped.
    package static func + (time: RedisTime, span: Duration) -> RedisTime {
        let (seconds, attoseconds) = span.components
        return RedisTime(milliseconds: time.milliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    /// The span from the right moment to the left one.
    package static func - (left: RedisTime, right: RedisTime) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}
