/// Why a Redis command has failed.
package struct RedisError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure: reported by the server or detected by this library.
    package var code: Code
    /// The rest of the error's text.
    package var message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Splits the text of an error reply into code and message.
    init(reply text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        self.init(
            code: parts.first.map { Code(rawValue: String($0)) } ?? .generic,
            message: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Code and message on one line.
    package var description: String { "\(code) \(message)" }

    static let closed = RedisError(
        code: .closed, message: "lost the connection to Redis; the command's outcome is unknown")
    package static let unsent = RedisError(
        code: .unsent, message: "lost the connection to Redis; the command was not sent")
    package static let shutDown = RedisError(code: .closed, message: "this connection was closed by its owner")
    static let elsewhere = RedisError(
        code: .closed, message: "another connection to the master ends at another server")
    package static let timeout = RedisError(code: .timeout, message: "no answer within the command timeout")

    static func unreplicated(_ replicas: Int) -> RedisError {
        RedisError(
            code: .unreplicated,
            message: "fewer replicas than \(replicas) have acknowledged the command in time; its outcome is unknown")
    }

    static func full(_ what: String, bound: Int) -> RedisError {
        RedisError(code: .full, message: "too many \(what): the bound is \(bound)")
    }

    package static func shape(_ what: String) -> RedisError {
        RedisError(code: .shape, message: "\(what) has an unexpected shape")
    }

    /// Whether the server does not have the function that was called; nothing was done then.
    var isFunctionMissing: Bool { code == .generic && message == "Function not found" }

    /// Whether the server refused to load a library that it has already.
    var isLibraryThere: Bool {
        code == .generic && message.hasPrefix("Library '") && message.hasSuffix("' already exists")
    }
}
