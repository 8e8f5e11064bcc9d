/// A moment by Redis' clock, the common clock of all processes.
///
/// A separate type, so that it cannot be compared with a moment of a local clock or mistaken for a time span. The spans
/// between two moments are in ClusterState: the client libraries load this module on systems without `Duration`.
package struct RedisTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970, as used by Redis Functions and stored records.
    package let milliseconds: Int64

    /// Makes a moment from a number that Redis returned.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Reads decimal milliseconds, as functions return them among other texts; nil for other text.
    package init?(text: String) {
        guard let milliseconds = Int64(text) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Makes a moment from microseconds, as the numbers of changes count them; the
    /// fraction of a millisecond is dropped.
    package init(microseconds: Int64) { milliseconds = microseconds / 1000 }

    /// Reads the reply to TIME, seconds and microseconds; nil when a part is missing.
    package init?(seconds: Int64?, microseconds: Int64?) {
        guard let seconds, let microseconds else { return nil }
        milliseconds = seconds * 1000 + microseconds / 1000
    }

    /// The milliseconds as text.
    package var description: String { "\(milliseconds)" }

    package static func < (left: RedisTime, right: RedisTime) -> Bool { left.milliseconds < right.milliseconds }
}
