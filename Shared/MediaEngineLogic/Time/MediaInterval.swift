/// A span of time of the media engine, in whole microseconds; it may be negative.
///
/// A type of our own, as the standard library's requires iOS 16 and macOS 13, and finer than the signaling client's,
/// because the arrival of packets is judged in fractions of a millisecond.
package struct MediaInterval: Sendable, Hashable, Comparable {
    /// The whole span in microseconds.
    package let microseconds: Int64

    /// Makes a span of microseconds.
    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Makes a span of whole milliseconds.
    package static func milliseconds(_ milliseconds: Int) -> MediaInterval {
        MediaInterval(microseconds: Int64(milliseconds) * 1000)
    }

    /// Makes a span of whole seconds.
    package static func seconds(_ seconds: Int) -> MediaInterval { milliseconds(seconds * 1000) }

    /// The span of that many samples at 48 kHz, rounded down to whole microseconds.
    package static func samples(_ samples: Int64) -> MediaInterval { MediaInterval(microseconds: samples * 125 / 6) }

    /// No time at all.
    package static let zero = MediaInterval(microseconds: 0)

    /// The span in seconds.
    package var seconds: Double { Double(microseconds) / 1_000_000 }

    /// The span in milliseconds.
    package var milliseconds: Double { Double(microseconds) / 1000 }

    /// Whether the left span is shorter.
    package static func < (left: MediaInterval, right: MediaInterval) -> Bool { left.microseconds < right.microseconds }

    /// Both spans, one after the other.
    package static func + (left: MediaInterval, right: MediaInterval) -> MediaInterval {
        MediaInterval(microseconds: left.microseconds + right.microseconds)
    }

    /// What the left span is longer than the right one.
    package static func - (left: MediaInterval, right: MediaInterval) -> MediaInterval {
        MediaInterval(microseconds: left.microseconds - right.microseconds)
    }

    /// The span times a factor, rounded to the nearest microsecond.
    package static func * (left: MediaInterval, factor: Double) -> MediaInterval {
        MediaInterval(microseconds: Int64((Double(left.microseconds) * factor).rounded()))
    }
}
