/// Why something was refused or failed.
public struct SignalingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The code, as the API's documents list them.
    public var code: SignalingCode
    /// The reason for programs, finer than the code: `error.reason == .rateLimited`.
    public var reason: SignalingReason
    /// The reason as a sentence for people: which value and which bound, never a token or the text of a message.
    public var message: String

    /// Makes an error of a code, a reason for programs, and a message for people.
    public init(_ code: SignalingCode, _ reason: SignalingReason, _ message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// The deadline of a command or a store call passed; whether it took effect is unknown.
    /// - Parameter code: the code that the documents give a timed-out call of this kind.
    package static func timeout(_ code: SignalingCode = .failed) -> SignalingError {
        SignalingError(code, .timeout, "no answer within the deadline")
    }

    /// A store that the request needs does not answer.
    package static func unavailable(_ what: String) -> SignalingError {
        SignalingError(.failed, .unavailable, "\(what) is not available, try again")
    }

    /// Redis has no room for more: what adds to it is refused, what frees memory is not. Nothing was done.
    package static let memoryFull = SignalingError(
        .failed, .memoryFull, "the memory of Redis is nearly used up, try again later")

    /// Code, reason and message on one line.
    public var description: String { "\(code.rawValue) \(reason): \(message)" }
}
