/// A moment by the local clock that only goes forward, in microseconds since a start of the caller's choice.
///
/// Nothing in this module reads a clock: whoever calls says when it is.
package struct MediaInstant: Sendable, Hashable, Comparable {
    /// Microseconds since the clock's start.
    package let microseconds: Int64

    /// Makes a moment of microseconds since the clock's start.
    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Whether the left moment is earlier.
    package static func < (left: MediaInstant, right: MediaInstant) -> Bool { left.microseconds < right.microseconds }

    /// The moment that much later.
    package static func + (left: MediaInstant, right: MediaInterval) -> MediaInstant {
        MediaInstant(microseconds: left.microseconds + right.microseconds)
    }

    /// The time from the right moment to the left one.
    package static func - (left: MediaInstant, right: MediaInstant) -> MediaInterval {
        MediaInterval(microseconds: left.microseconds - right.microseconds)
    }
}
