package import SignalingProtocol

/// A call of a `media` function, with validated arguments. Source: `Docs/protocol.md`, "Media".
///
/// Media calls are apart from ``ClientCall``: sockets without a session make them too, they are answered when they are
/// ready, not in the order of a session's calls, and are refused with a ``MediaRefusal``.
package struct MediaCall: Equatable, Sendable {
    /// Whether the call's `line` is that of the connection; other calls are refused.
    package var isOnItsLine: Bool
    package var act: Act

    /// What a client can ask for.
    package enum Act: Equatable, Sendable {
        /// `media.join`.
        case join(MediaJoinRequest)
        /// `media.resume`, with the secret.
        case resume(MediaChannelName, ParticipantID, secret: String)
        /// `media.restart`, with the secret.
        case restart(MediaChannelName, ParticipantID, secret: String, MediaTransportOffer)
        /// `media.renew`, with the new key.
        case renew(MediaChannelName, ParticipantID, key: String)
        /// `media.mute`.
        case mute(MediaChannelName, ParticipantID, MediaMute)
        /// `media.leave`.
        case leave(MediaChannelName, ParticipantID)
    }

    /// The names of the functions.
    package enum Function: String, CaseIterable, Sendable {
        case join = "media.join"
        case resume = "media.resume"
        case restart = "media.restart"
        case renew = "media.renew"
        case mute = "media.mute"
        case leave = "media.leave"

        /// What all of them begin with.
        static let prefix = "media."
    }
}

extension MediaCall {
    /// Checks a call.
    /// - Throws: ``MediaRefusal``: what is wrong with the arguments.
    init(_ function: Function, _ arguments: MediaArguments, line: String) throws(MediaRefusal) {
        act =
            switch function {
            case .join: .join(try arguments.join())
            case .resume:
                .resume(try arguments.channel(), try arguments.participant(), secret: try arguments.secret())
            case .restart:
                .restart(
                    try arguments.channel(), try arguments.participant(), secret: try arguments.secret(),
                    try arguments.transport())
            case .renew: .renew(try arguments.channel(), try arguments.participant(), key: try arguments.key())
            case .mute: .mute(try arguments.channel(), try arguments.participant(), try arguments.mute())
            case .leave: .leave(try arguments.channel(), try arguments.participant())
            }
        isOnItsLine = arguments.isOn(line: line)
    }
}

/// The arguments of `media.join`.
package struct MediaJoinRequest: Equatable, Sendable {
    /// Bytes of ``info``.
    package static let infoBytes = 4096
    /// Nodes in ``avoid``.
    package static let avoidCount = 16

    package var channel: MediaChannelName
    /// 0 for any that is free.
    package var uid: UInt32
    /// The dynamic key, not checked yet; nil for none.
    package var key: String?
    /// 32 hexadecimal digits.
    package var call: String
    package var flags: MediaFlags
    package var info: String
    package var transport: MediaTransportOffer
    /// Nodes that the client could not reach.
    package var avoid: [MediaNodeID]
}

/// A `call2` of a `media` function.
package struct MediaRequest: Equatable, Sendable {
    /// As ``CallRequest/id``.
    package var id: String
    /// The parsed call, or the refusal to answer.
    package var call: Result<MediaCall, MediaRefusal>
}

/// The argument of `media_hello`, which opens a socket without a session for media calls.
package struct MediaHello: Equatable, Sendable {
    /// The app id (`vid`); empty when missing.
    package var app: String

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of media_hello must be an object") }
        app = argument.text("vid") ?? ""
    }
}
