/// Why a media call is refused: a reason, with the media SDK's code. The only table of these codes, whose numbers mean other
/// things in signaling. Source: `Docs/protocol.md`, "Media"; Native SDK 1.4, error and warning codes.
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
    case notInChannel = "not_in_channel"
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
    case timeout

    /// The code, as apps of the media SDK know it.
    package var code: Int {
        switch self {
        case .invalidUID, .invalidArguments, .badOffer: 2
        case .unknownParticipant, .notInChannel: 3
        case .unsupportedMedia: 4
        case .refused: 5
        case .timeout: 10
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

    /// The refusal as it travels between processes, where only its reason counts.
    package var error: SignalingError {
        SignalingError(.failed, SignalingReason(rawValue: rawValue), "a media node refused the call")
    }

    /// The refusal of which an answer between processes tells. What else can go wrong there (Redis or a service is away, a queue is
    /// full) is no answer of the node.
    package init(_ error: SignalingError) {
        self = Self(rawValue: error.reason.rawValue) ?? .nodeUnreachable
    }
}
