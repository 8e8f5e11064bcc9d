package import RedisClient
package import SignalingProtocol

extension RedisError {
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

    /// Whether the command may have taken effect, in part or as a whole.
    package var mayHaveTakenEffect: Bool {
        switch code {
        // A function may fail after it has begun, with the server's general code.
        case .timeout, .unreplicated, .malformed, .shape, .generic: true
        case .closed: self != .shutDown
        default: false
        }
    }
}

/// Failures that only processes of our cluster know.
extension RedisError.Code {
    /// A Redis Function of this project refused: `SIG <code> <reason> <text>`.
    package static let signaling = Self(rawValue: "SIG")
    /// Another process has taken over the round of a ``SingletonJob``.
    package static let lost = Self(rawValue: "LOST")
}
