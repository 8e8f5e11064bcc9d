/// Why a request failed, as a stable word for programs: lower case with underscores (`rate_limited`), or one of the
/// documents' `TokenError...` words for logins.
///
/// The cluster makes the reasons below; one from a newer or older gateway may be another and keeps its text.
public struct SignalingReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word as it stands on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The word.
    public var description: String { rawValue }
}

/// The state of the cluster: the same request may succeed later.
extension SignalingReason {
    /// There was no answer within the deadline: whether the request took effect is unknown.
    public static let timeout = Self(rawValue: "timeout")
    /// A store that the request needs does not answer.
    public static let unavailable = Self(rawValue: "unavailable")
    /// A queue in the cluster is at its bound; nothing was done.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Redis has no room for more; nothing was done.
    public static let memoryFull = Self(rawValue: "memory_full")
    /// The call was changed by others again and again; nothing was done.
    public static let busy = Self(rawValue: "busy")
    /// More requests in a second than are allowed.
    public static let rateLimited = Self(rawValue: "rate_limited")
}

/// Login, session and connection.
extension SignalingReason {
    /// There is no app with that id.
    public static let unknownApp = Self(rawValue: "unknown_app")
    /// The app requires a token and the login had none.
    public static let tokenErrorRequired = Self(rawValue: "TokenErrorRequired")
    /// The token is not of the form `1:app:expiry:md5`.
    public static let tokenErrorMalformed = Self(rawValue: "TokenErrorMalformed")
    /// The token was made for another app.
    public static let tokenErrorApp = Self(rawValue: "TokenErrorApp")
    /// The token's digest is not that of this account and expiry.
    public static let tokenErrorDigest = Self(rawValue: "TokenErrorDigest")
    /// The token had expired before the login.
    public static let tokenErrorExpired = Self(rawValue: "TokenErrorExpired")
    /// The token expired during the session, which is over.
    public static let tokenExpired = Self(rawValue: "token_expired")
    /// The connection has a session already.
    public static let alreadyLoggedIn = Self(rawValue: "already_logged_in")
    /// The connection has no session.
    public static let notLoggedIn = Self(rawValue: "not_logged_in")
    /// The session of that line is over, or the line is not this connection's.
    public static let badLine = Self(rawValue: "bad_line")
    /// The session is over, or goes on at another gateway.
    public static let sessionOver = Self(rawValue: "session_over")
    /// A newer login of the account took the place of the session.
    public static let replaced = Self(rawValue: "replaced")
    /// The gateway's word for a session that a newer login has replaced.
    public static let kick = Self(rawValue: "kick")
}

/// Arguments.
extension SignalingReason {
    /// A text is not JSON, or JSON of another shape.
    public static let malformed = Self(rawValue: "malformed")
    /// There is no function of that name.
    public static let unknownFunction = Self(rawValue: "unknown_function")
    /// An argument of the function is missing.
    public static let missingArgument = Self(rawValue: "missing_argument")
    /// An argument is not the text that it must be.
    public static let invalidArgument = Self(rawValue: "invalid_argument")
    /// The arguments are not a JSON object.
    public static let invalidArguments = Self(rawValue: "invalid_arguments")
    /// No app id: see `AppID`.
    public static let invalidAppID = Self(rawValue: "invalid_app_id")
    /// No account: too long, empty, or with white space or control characters.
    public static let invalidAccount = Self(rawValue: "invalid_account")
    /// No channel name: too long, empty, or with control characters.
    public static let invalidChannel = Self(rawValue: "invalid_channel")
    /// No attribute name: too long, empty, or with control characters.
    public static let invalidAttributeName = Self(rawValue: "invalid_attribute_name")
    /// A message's `t` is not `instant`.
    public static let invalidType = Self(rawValue: "invalid_type")
    /// `extra` is neither empty nor JSON.
    public static let invalidExtra = Self(rawValue: "invalid_extra")
    /// `flag` is not `v1:E:<seconds>`.
    public static let invalidFlag = Self(rawValue: "invalid_flag")
    /// `num` is not a whole number.
    public static let invalidNum = Self(rawValue: "invalid_num")
    /// The peer of a call is neither an account nor a telephone number.
    public static let invalidPeer = Self(rawValue: "invalid_peer")
    /// The digits are not `0`-`9`, `*`, `#`, `A`-`D` and commas.
    public static let invalidDTMF = Self(rawValue: "invalid_dtmf")
    /// The discovery address is not an http or https URL with a host.
    public static let invalidDiscovery = Self(rawValue: "invalid_discovery")
    /// An argument has more bytes than it may.
    public static let tooLarge = Self(rawValue: "too_large")
    /// A call's `extra` has more bytes than it may.
    public static let extraTooLarge = Self(rawValue: "extra_too_large")
    /// A value that is stored holds the NUL character.
    public static let nulCharacter = Self(rawValue: "nul_character")
}

/// Channels and attributes.
extension SignalingReason {
    /// The session is not a member of the channel.
    public static let notMember = Self(rawValue: "not_member")
    /// The channel is the system's: clients may not do that there.
    public static let specialChannel = Self(rawValue: "special_channel")
    /// The session joined or left a channel after this request was made.
    public static let superseded = Self(rawValue: "superseded")
    /// An attribute's value has more bytes than it may.
    public static let valueTooLarge = Self(rawValue: "value_too_large")
    /// The user or channel would have more attributes than it may; nothing was changed.
    public static let tooManyAttributes = Self(rawValue: "too_many_attributes")
    /// The name has a leading underscore and is no built-in attribute.
    public static let unknownBuiltIn = Self(rawValue: "unknown_built_in")
    /// The value is none that the built-in attribute can have.
    public static let invalidBuiltIn = Self(rawValue: "invalid_built_in")
    /// The value of the built-in attribute is a whole number.
    public static let notAnInteger = Self(rawValue: "not_an_integer")
    /// Only the system sets the attribute.
    public static let readOnly = Self(rawValue: "read_only")
    /// The receiver's mailbox, or the sender's share of it, is full.
    public static let mailboxFull = Self(rawValue: "mailbox_full")
}

/// Calls.
extension SignalingReason {
    /// There is no call with that peer in that channel.
    public static let unknownCall = Self(rawValue: "unknown_call")
    /// The call is over.
    public static let callEnded = Self(rawValue: "call_ended")
    /// The call is not in a state in which that can be done.
    public static let wrongState = Self(rawValue: "wrong_state")
    /// A call between the two in that channel is pending.
    public static let reinvite = Self(rawValue: "reinvite")
    /// The peer is the caller.
    public static let selfInvite = Self(rawValue: "self_invite")
    /// The user has as many calls as a user may have.
    public static let tooManyCalls = Self(rawValue: "too_many_calls")
    /// The user called telephones too often in this minute.
    public static let tooManyNewCalls = Self(rawValue: "too_many_new_calls")
    /// The app has as many calls to telephones as it may have.
    public static let appCalls = Self(rawValue: "app_calls")
    /// The app called telephones too often in this minute.
    public static let appNewCalls = Self(rawValue: "app_new_calls")
}

/// Made by the client library itself.
extension SignalingReason {
    /// No gateway could be reached, or not soon enough to resume the session.
    public static let network = Self(rawValue: "network")
    /// The connection was lost before the answer; whether the call took effect is unknown.
    public static let interrupted = Self(rawValue: "interrupted")
    /// The task that waited was cancelled, or the login was ended by a logout.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The session ended before the call was answered.
    public static let loggedOut = Self(rawValue: "logged_out")
    /// The user logged out.
    public static let logout = Self(rawValue: "logout")
    /// The client was closed.
    public static let closed = Self(rawValue: "closed")
    /// As many calls wait for answers as the configuration allows.
    public static let queueFull = Self(rawValue: "queue_full")
    /// The gateway gave no reason.
    public static let failed = Self(rawValue: "failed")
}

/// Between the cluster's processes.
extension SignalingReason {
    /// A command, answer or record lacks a field, or has one that cannot be read.
    package static let badFields = Self(rawValue: "bad_fields")
    /// A publication cannot be read.
    package static let badEvent = Self(rawValue: "bad_event")
    /// The service, perhaps of an older release, does not know the command.
    package static let unknownOperation = Self(rawValue: "unknown_operation")
    /// The answer to a command is longer than ``Limits/replyBytes``.
    package static let replyTooLong = Self(rawValue: "reply_too_long")
    /// PostgreSQL refuses a value, and will again.
    package static let refusedByPostgres = Self(rawValue: "refused_by_postgres")
    /// A call's record in Redis has a word that this release does not know.
    package static let unreadableCall = Self(rawValue: "unreadable_call")
    /// An invitation came where only acts in a call are handled.
    package static let wrongVerb = Self(rawValue: "wrong_verb")
}

/// Dynamic keys.
extension SignalingReason {
    /// A part of a key to be made has the wrong length.
    package static let invalidKeyParts = Self(rawValue: "invalid_key_parts")
    /// The text is no dynamic key.
    package static let malformedKey = Self(rawValue: "malformed_key")
    /// The key was not made for this app, channel, user and service.
    package static let wrongKey = Self(rawValue: "wrong_key")
    /// The key's time is over.
    package static let keyExpired = Self(rawValue: "key_expired")
}
