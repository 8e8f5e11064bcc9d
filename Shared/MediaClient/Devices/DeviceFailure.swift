/// What is wrong with a device.
///
/// A device's `start` may throw one, so that the app is told more exactly; what else it throws counts as
/// ``Cause/start``, and an ``AudioFileError`` has a cause of its own.
public struct DeviceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// At what a device fails.
    public enum Cause: Sendable, Hashable {
        /// The device, or its file, may not be used.
        case permission
        /// It has other samples than 48,000 in a second.
        case sampleRate
        /// It cannot be opened or set up.
        case preparation
        /// It cannot be started.
        case start
        /// It says that it has failed while it ran.
        case running
        /// It has done nothing for 10 s: no samples were delivered or asked for.
        case standstill
    }

    /// At what the device fails.
    public var cause: Cause
    /// What has happened, in a sentence.
    public var message: String

    /// Makes a failure.
    public init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }

    /// The failure of a device whose start has thrown that.
    init(starting error: any Error) {
        switch error {
        case let failure as DeviceFailure: self = failure
        case let error as AudioFileError: self.init(error.cause, error.description)
        default: self.init(.start, "\(error)")
        }
    }

    /// The message.
    public var description: String { message }
}
