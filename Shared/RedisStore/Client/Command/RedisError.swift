package import SignalingProtocol

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

    /// The error that clients are given: code, reason and text of a Redis Function's refusal `SIG <code> <reason>
    /// <text>`; `memory_full` when Redis is at `maxmemory`; `unavailable` for everything else.
    package var signaling: SignalingError {
        if code == .outOfMemory { return .memoryFull }
        // Not the same as for Redis itself: a post that fails with this is delivered again without a bound,
        // because the post cannot be the cause.
        if code == .unreplicated { return .unavailable("a replica of redis") }
        guard code == .signaling else { return .unavailable("redis") }
        let parts = message.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let number = Int(parts[0]), let code = SignalingCode(rawValue: number) else {
            return .unavailable("redis")
        }
        return SignalingError(
            code, SignalingReason(rawValue: String(parts[1])), parts.count > 2 ? String(parts[2]) : "")
    }

    /// The error of a message whose sender waits: as ``signaling``, but `timeout` where it is unknown whether the
    /// message was sent. A message that is told as `unavailable` was not, and is not later either.
    package var ofMessage: SignalingError {
        let isUnknown = code == .timeout || code == .closed && self != .shutDown
        return isUnknown ? .timeout() : signaling
    }

    /// Code and message on one line.
    package var description: String { "\(code) \(message)" }

    static let closed = RedisError(
        code: .closed, message: "lost the connection to Redis; the command's outcome is unknown")
    static let unsent = RedisError(code: .unsent, message: "lost the connection to Redis; the command was not sent")
    static let shutDown = RedisError(code: .closed, message: "this connection was closed by its owner")
    static let elsewhere = RedisError(
        code: .closed, message: "another connection to the master ends at another server")
    static let timeout = RedisError(code: .timeout, message: "no answer within the command timeout")

    static func unreplicated(_ replicas: Int) -> RedisError {
        RedisError(
            code: .unreplicated,
            message: "fewer replicas than \(replicas) have acknowledged the command in time; its outcome is unknown")
    }

    static func full(_ what: String, bound: Int) -> RedisError {
        RedisError(code: .full, message: "too many \(what): the bound is \(bound)")
    }

    static func shape(_ what: String) -> RedisError {
        RedisError(code: .shape, message: "\(what) has an unexpected shape")
    }

    /// Whether the server does not have the function that was called; nothing was done then.
    var isFunctionMissing: Bool { code == .generic && message == "Function not found" }

    /// Whether the server refused to load a library that it has already.
    var isLibraryThere: Bool {
        code == .generic && message.hasPrefix("Library '") && message.hasSuffix("' already exists")
    }
}
