/// Why a media call is refused: a reason, with the media SDK's code. The only table of these codes, whose numbers mean
/// other things in signaling. Source: `Docs/protocol.md`, "Media"; Native SDK 1.4, error and warning codes.
package enum MediaRefusal: String, Error, Equatable, Sendable, CaseIterable {
    // What the caller has to change.
    case unknownApp = "unknown_app"
    case invalidChannel = "invalid_channel"
    case invalidUID = "invalid_uid"
    case invalidArguments = "invalid_args"
    /// A session description that no media can come of.
    case badOffer = "bad_offer"
    case keyRequired = "key_required"
    case malformedKey = "malformed_key"
    case wrongKey = "wrong_key"
    case keyExpired = "key_expired"
    case channelFull = "channel_full"
    /// Media, but in no codec that is forwarded.
    case unsupportedMedia = "unsupported_media"
    case unknownParticipant = "unknown_participant"
    /// The channel or the node allows no more of this.
    case refused
    // What the caller may repeat.
    /// No media node is alive that takes participants.
    case noNode = "no_node"
    /// The channel's node does not answer.
    case nodeUnreachable = "node_unreachable"
    /// The node is about to stop.
    case draining
    case rateLimited = "rate_limited"

    /// The code, as apps of the media SDK know it.
    package var code: Int {
        switch self {
        case .invalidUID, .invalidArguments, .badOffer: 2
        case .unknownParticipant: 3
        case .unsupportedMedia: 4
        case .refused: 5
        case .rateLimited: 12
        case .channelFull: 17
        case .unknownApp: 101
        case .invalidChannel: 102
        case .noNode: 103
        case .nodeUnreachable: 104
        case .draining: 107
        case .keyExpired: 109
        case .keyRequired, .malformedKey, .wrongKey: 110
        }
    }

    /// The reason as a sentence for people, with the bound that was hit.
    package var message: String {
        switch self {
        case .unknownApp: "there is no app with that id"
        case .invalidChannel:
            "a media channel's name must have \(MediaChannelName.bytes.lowerBound) to "
                + "\(MediaChannelName.bytes.upperBound) ASCII characters, without quotation marks, *, / and \\"
        case .invalidUID: "a uid must be a number from 0 to \(UInt32.max)"
        case .invalidArguments: "an argument is missing, of the wrong type or outside its bounds"
        case .badOffer: "the session description is no offer that media can come of"
        case .keyRequired: "the app requires a dynamic key"
        case .malformedKey: "the key is not a dynamic key of version 003, 004 or 005"
        case .wrongKey: "the key was made for another app, channel, uid or service, or with another certificate"
        case .keyExpired: "the key, or the service that it is for, has expired"
        case .channelFull: "the channel has as many participants as it may"
        case .unsupportedMedia: "none of the codecs is one that this system forwards"
        case .unknownParticipant: "there is no such participant on this connection"
        case .refused: "the channel, the node or the connection allows no more of this"
        case .noNode: "no media node takes participants; try again"
        case .nodeUnreachable: "the channel's media node does not answer; try again"
        case .draining: "the media node is about to stop; try again"
        case .rateLimited: "too many media calls; try again later"
        }
    }

    /// The refusal as it travels between processes, where only its reason counts.
    package var error: SignalingError {
        SignalingError(.failed, SignalingReason(rawValue: rawValue), message)
    }

    /// The refusal of which an answer between processes tells, or the one that stands for what has prevented an answer:
    /// the node is silent, or Redis is away.
    package init(_ error: SignalingError) {
        self = Self(rawValue: error.reason.rawValue) ?? (error.reason == .timeout ? .nodeUnreachable : .noNode)
    }
}
