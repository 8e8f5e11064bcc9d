/// Why something was refused or failed.
public struct SignalingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The code, as listed in the API's documents.
    public var code: SignalingCode
    /// The reason as a word for programs, finer than the code: `error.reason == .rateLimited`.
    public var reason: SignalingReason
    /// The reason as a sentence for people: names the kind of value and the bound, and never contains a token or
    /// message text.
    public var message: String

    /// Creates an error from a code, a reason for programs, and a message for people.
    public init(_ code: SignalingCode, _ reason: SignalingReason, _ message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// The deadline of a command or of a request to a store has passed; whether it took effect is unknown.
    /// - Parameter code: the code that the documents define for a timeout of this kind of call.
    package static func timeout(_ code: SignalingCode = .failed) -> SignalingError {
        SignalingError(code, .timeout, "no answer within the deadline")
    }

    /// A store that the request needs does not answer.
    package static func unavailable(_ what: String) -> SignalingError {
        SignalingError(.failed, .unavailable, "\(what) is not available; try again")
    }

    /// Redis is at `maxmemory`: requests that add data are refused, those that free memory are not. Nothing was done.
    package static let memoryFull = SignalingError(
        .failed, .memoryFull, "the memory of Redis is nearly used up, try again later")

    /// Code, reason and message on one line.
    public var description: String { "\(code.rawValue) \(reason): \(message)" }
}
