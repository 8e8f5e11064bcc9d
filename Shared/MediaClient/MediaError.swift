internal import SignalingProtocol

/// Why a media call was refused, or has ended.
public struct MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The media SDK's code: 101 unknown app, 110 wrong key... Source: `Docs/protocol.md`, "Refusals of media calls".
    public var code: Int
    /// The reason in one word, as `wrong_key`.
    public var reason: String
    /// What happened, in a sentence.
    public var message: String

    /// Makes an error.
    public init(code: Int, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// Reason, code and message.
    public var description: String { "\(reason) (\(code)): \(message)" }
}

extension MediaError {
    /// No gateway has answered for 5 s; told as a warning.
    static let noGateway = MediaError(code: 104, reason: "no_gateway", message: "no gateway has answered; trying again")
    /// A gateway has not answered a call for 5 s.
    static let noAnswer = MediaError(code: 10, reason: "timeout", message: "the gateway has not answered")
    /// Nothing came from the media node for 2 s; told as a warning.
    static let noPath = MediaError(
        code: 106, reason: "no_path", message: "nothing comes from the media node; trying again")
    /// Nothing came from any media node for 20 s after the first attempt to join.
    static let startFailed = MediaError(
        code: 1002, reason: "start_failed", message: "no media node could be reached within 20 s")
    /// The encoder or decoder could not be made.
    static let codecFailed = MediaError(
        code: 1001, reason: "codec_failed", message: "libopus has no encoder or decoder for us")
    /// The answer lacks something, or has keys that are none.
    static let badAnswer = MediaError(
        code: 1, reason: "bad_answer", message: "the gateway's answer to the join cannot be used")
    /// Another client has joined under this uid.
    static let replaced = MediaError(code: 17, reason: "replaced", message: "the uid has joined from elsewhere")
    /// What was asked for came after the end.
    static let notJoined = MediaError(code: 3, reason: "not_in_channel", message: "the call is over")
    /// The task that waited was cancelled.
    static let cancelled = MediaError(code: 11, reason: "cancelled", message: "the join was cancelled")

    /// The node has closed the way to this client for what it sends.
    static let limited = MediaError(
        code: 12, reason: "limit", message: "more was sent to the media node than a participant may send")

    /// The playback device has asked for nothing for half a second; told as a warning, as are those that follow.
    static let playbackLate = MediaError(
        code: 1014, reason: "playback_late", message: "the playback device has asked for nothing for 0.5 s")
    /// The capture device has delivered nothing for half a second.
    static let captureLate = MediaError(
        code: 1016, reason: "capture_late", message: "the capture device has delivered nothing for 0.5 s")
    /// The capture device has delivered digital zeroes for 10 s, and they were sent.
    static let captureSilent = MediaError(
        code: 1019, reason: "capture_silent", message: "the capture device has delivered zeroes for 10 s")
    /// The clock of the playback device is wrong.
    static let playbackOffPace = MediaError(
        code: 1020, reason: "playback_off_pace", message: "the playback device's clock is off by more than 5 %")
    /// The clock of the capture device is wrong.
    static let captureOffPace = MediaError(
        code: 1021, reason: "capture_off_pace", message: "the capture device's clock is off by more than 5 %")

    /// Whether the same attempt can only be refused again.
    var isFinal: Bool {
        switch MediaRefusal(rawValue: reason) {
        case .unknownApp, .invalidChannel, .invalidUID, .invalidArguments, .badOffer, .keyRequired, .malformedKey,
            .wrongKey,
            .keyExpired, .channelFull, .unsupportedMedia, .refused:
            true
        case .unknownParticipant, .noNode, .nodeUnreachable, .draining, .rateLimited, nil: false
        }
    }

    /// Whether another key may help.
    var isAboutKey: Bool {
        switch MediaRefusal(rawValue: reason) {
        case .keyRequired, .malformedKey, .wrongKey, .keyExpired: true
        case .unknownApp, .invalidChannel, .invalidUID, .invalidArguments, .badOffer, .channelFull, .unsupportedMedia,
            .refused,
            .unknownParticipant, .noNode, .nodeUnreachable, .draining, .rateLimited, nil:
            false
        }
    }
}
