/// A span of time, in whole milliseconds.
///
/// Used like the standard library's `Duration` (`.seconds(30)`, `.milliseconds(500)`),
/// which requires iOS 16 and macOS 13.
public struct ClientDuration: Sendable, Hashable, Comparable {
    /// The whole span in milliseconds.
    public var milliseconds: Int64

    /// Creates a span of milliseconds.
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> ClientDuration {
        ClientDuration(milliseconds: Int64(milliseconds))
    }

    /// Creates a span of seconds.
    public static func seconds(_ seconds: some BinaryInteger) -> ClientDuration {
        ClientDuration(milliseconds: Int64(seconds) * 1000)
    }

    /// Creates a span of seconds, rounded to whole milliseconds.
    public static func seconds(_ seconds: Double) -> ClientDuration {
        ClientDuration(milliseconds: Int64((seconds * 1000).rounded()))
    }

    /// Whether the left span is shorter.
    public static func < (left: ClientDuration, right: ClientDuration) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
