/// Why a request was refused: what a client is told and an operator reads.
public struct SignalingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The public code.
    public var code: SignalingCode
    /// A stable word for programs, lower case with underscores (`rate_limited`, `timeout`); login failures use the
    /// documents' `TokenError...` words.
    public var reason: String
    /// A sentence for people: the kind of value and the bound that was hit, never a token or a message body.
    public var message: String

    /// Makes an error.
    public init(_ code: SignalingCode, _ reason: String, _ message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// The deadline of a command or a store call passed; whether it took effect is unknown.
    /// - Parameter code: the code that the documents give a timed-out call of this kind.
    package static func timeout(_ code: SignalingCode = .failed) -> SignalingError {
        SignalingError(code, "timeout", "no answer within the deadline")
    }

    /// A store that the request needs does not answer.
    package static func unavailable(_ what: String) -> SignalingError {
        SignalingError(.failed, "unavailable", "\(what) is not available, try again")
    }

    /// Redis has no room for more: what adds to it is refused, what frees memory is not. Nothing was done.
    package static let memoryFull = SignalingError(
        .failed, "memory_full", "the memory of Redis is nearly used up, try again later")

    /// Code, reason and message on one line.
    public var description: String { "\(code.rawValue) \(reason): \(message)" }
}
