/// Why a file cannot be used to talk or listen with.
public struct AudioFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public var path: String
    /// What is wrong with it, and what would be accepted.
    public var message: String

    /// Makes an error.
    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    /// Path and message.
    public var description: String { "\(path): \(message)" }
}
