/// A span of time, in whole milliseconds.
///
/// Written as the standard library's `Duration` is (`.seconds(30)`, `.milliseconds(500)`), which needs iOS 16 and macOS 13.
public struct ClientDuration: Sendable, Hashable, Comparable {
    /// The whole span in milliseconds.
    public var milliseconds: Int64

    /// A span of so many milliseconds.
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> ClientDuration {
        ClientDuration(milliseconds: Int64(milliseconds))
    }

    /// A span of so many seconds.
    public static func seconds(_ seconds: some BinaryInteger) -> ClientDuration {
        ClientDuration(milliseconds: Int64(seconds) * 1000)
    }

    /// A span of so many seconds, rounded to whole milliseconds.
    public static func seconds(_ seconds: Double) -> ClientDuration {
        ClientDuration(milliseconds: Int64((seconds * 1000).rounded()))
    }

    /// Whether the left span is the shorter one.
    public static func < (left: ClientDuration, right: ClientDuration) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
