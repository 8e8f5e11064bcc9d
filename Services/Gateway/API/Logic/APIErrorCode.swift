/// What can be wrong with a request of the server API, as a stable word for programs. Docs/api.md lists them.
package enum APIErrorCode: String, CaseIterable, Sendable {
    case malformed
    case invalidArgument = "invalid_argument"
    case unauthenticated
    case forbidden
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case valueDiffers = "value_differs"
    case callPending = "call_pending"
    case wrongCallState = "wrong_call_state"
    case settingsChanging = "settings_changing"
    case noCertificate = "no_certificate"
    case requestInProgress = "request_in_progress"
    case alreadyDelivered = "already_delivered"
    case keyReused = "idempotency_key_reused"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case rateLimited = "rate_limited"
    case mailboxFull = "mailbox_full"
    case tooManyAttributes = "too_many_attributes"
    case tooManyBans = "too_many_bans"
    case tooManyCalls = "too_many_calls"
    case tooManyKeys = "too_many_keys"
    case memoryFull = "memory_full"
    case unavailable
    case timeout
    case failed

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .malformed, .invalidArgument: 400
        case .unauthenticated: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .valueDiffers, .callPending, .wrongCallState, .settingsChanging, .noCertificate: 409
        case .requestInProgress, .alreadyDelivered: 409
        case .mailboxFull, .tooManyAttributes, .tooManyBans, .tooManyCalls, .tooManyKeys: 409
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .keyReused: 422
        case .rateLimited: 429
        case .failed: 500
        case .memoryFull, .unavailable: 503
        case .timeout: 504
        }
    }

    /// Whether the same request may succeed later, so that an answer with it is not kept for repetitions.
    package var isPassing: Bool { status >= 500 || self == .rateLimited || self == .settingsChanging }

    /// What it means and what to do, in one sentence.
    package var meaning: String {
        switch self {
        case .malformed: "The request cannot be read: the path is not valid UTF-8, or the body is not one JSON object."
        case .invalidArgument:
            "A value is missing, unknown or out of range: `field` names it and `bound` says what is allowed."
        case .unauthenticated: "There is no valid key in the header `Authorization: Bearer KEY`."
        case .forbidden: "The key is valid, but lacks the scope or may not use this app."
        case .notFound: "There is no such path, app, key, process, attribute, ban, member, call or waiting message."
        case .methodNotAllowed: "The path exists, but not with this method; the header `Allow` lists those that it has."
        case .valueDiffers: "The attribute has another value than expected; nothing was changed."
        case .callPending: "A call is pending between the two in the channel; end it first."
        case .wrongCallState: "The call is in the wrong state: digits, for example, before the telephone is called."
        case .settingsChanging: "Others are changing settings; nothing was changed. Try again after `Retry-After`."
        case .noCertificate: "The app has no certificate, with which tokens are made."
        case .requestInProgress:
            "A request with the same idempotency key is in progress; try again after the seconds of `Retry-After`."
        case .alreadyDelivered: "The message was already delivered to the receiver, so that it cannot be recalled."
        case .keyReused: "The idempotency key was used for another request in the last hour; use a new one."
        case .bodyTooLarge:
            "The body is larger than it may be: 1 MiB of a batch, a broadcast, settings or a question about many "
                + "users, 128 KiB of all others."
        case .unsupportedMediaType: "A body must be sent as `Content-Type: application/json`."
        case .rateLimited:
            "The key or the channel has had its requests of this second, or the key has as many in progress as it may; "
                + "try again after the seconds of `Retry-After`."
        case .mailboxFull: "As many messages wait for the receiver as may; they must be read first."
        case .tooManyAttributes:
            "The owner has as many attributes, or as many bytes of them, as it may; or as many users of the app have "
                + "some as may."
        case .tooManyBans: "There are as many bans as may be: `bound` says how many, and of what."
        case .tooManyCalls:
            "A user has as many calls as it may, or it or the app as many to telephones, at once or in this minute."
        case .tooManyKeys: "There are as many valid keys as may be: `bound` says how many."
        case .memoryFull: "The memory of Redis is nearly used up; nothing was done. Try again later."
        case .unavailable: "A part of the cluster does not answer. Try again, with the same idempotency key."
        case .timeout:
            "There was no answer in time; what was done is unknown. Try again, with the same idempotency key."
        case .failed: "The cluster failed to carry the request out; its log says why."
        }
    }
}
