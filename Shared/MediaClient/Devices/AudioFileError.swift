/// Why a file cannot be used to talk or listen with.
public struct AudioFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public var path: String
    /// What is wrong with it, and what would be accepted.
    public var message: String
    /// At what using the file as a device fails.
    public var cause: DeviceFailure.Cause

    /// Makes an error.
    public init(path: String, message: String, cause: DeviceFailure.Cause = .preparation) {
        self.path = path
        self.message = message
        self.cause = cause
    }

    /// Path and message.
    public var description: String { "\(path): \(message)" }
}
