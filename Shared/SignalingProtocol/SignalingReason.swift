/// Why a request failed, as a stable word for programs: lower case with underscores (`rate_limited`), or one of the
/// documents' `TokenError...` words for logins.
///
/// These are the reasons of this version. A gateway of another version may send other
/// words, which are kept as they are.
public struct SignalingReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word as sent on the wire.
    public let rawValue: String

    /// Accepts any word.
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
    /// A queue in the cluster is full; nothing was done.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Redis is at `maxmemory`; nothing was done.
    public static let memoryFull = Self(rawValue: "memory_full")
    /// Others kept changing the call at the same time, or an earlier attempt of the same command
    /// is under way; nothing was done.
    public static let busy = Self(rawValue: "busy")
    /// More requests per second than allowed.
    public static let rateLimited = Self(rawValue: "rate_limited")
}

/// Login, session and connection.
extension SignalingReason {
    /// There is no app with that id.
    public static let unknownApp = Self(rawValue: "unknown_app")
    /// The app's server has banned the user for a time, from the app or from the channel.
    public static let banned = Self(rawValue: "banned")
    /// The app requires a token and the login had none.
    public static let tokenErrorRequired = Self(rawValue: "TokenErrorRequired")
    /// The token is not of the form `1:app:expiry:md5`.
    public static let tokenErrorMalformed = Self(rawValue: "TokenErrorMalformed")
    /// The token was made for another app.
    public static let tokenErrorApp = Self(rawValue: "TokenErrorApp")
    /// The token's digest does not match this account and expiry.
    public static let tokenErrorDigest = Self(rawValue: "TokenErrorDigest")
    /// The token had expired at the time of the login.
    public static let tokenErrorExpired = Self(rawValue: "TokenErrorExpired")
    /// The token expired during the session, which has ended.
    public static let tokenExpired = Self(rawValue: "token_expired")
    /// The connection already has a session.
    public static let alreadyLoggedIn = Self(rawValue: "already_logged_in")
    /// There is no session: the client has not logged in, or not yet.
    public static let notLoggedIn = Self(rawValue: "not_logged_in")
    /// The line's session has ended, or the line is not that of this connection's session.
    public static let badLine = Self(rawValue: "bad_line")
    /// The session has ended, or continues on another gateway.
    public static let sessionOver = Self(rawValue: "session_over")
    /// A newer login of the account has replaced the session.
    public static let replaced = Self(rawValue: "replaced")
    /// The word of gateways for a session replaced by a newer login.
    public static let kick = Self(rawValue: "kick")
    /// The app's server does not allow the login, the join or the message.
    public static let denied = Self(rawValue: "denied")
}

/// Arguments.
extension SignalingReason {
    /// A text is not JSON, or JSON of the wrong shape.
    public static let malformed = Self(rawValue: "malformed")
    /// There is no function of that name.
    public static let unknownFunction = Self(rawValue: "unknown_function")
    /// An argument of the function is missing.
    public static let missingArgument = Self(rawValue: "missing_argument")
    /// An argument of the function is not valid.
    public static let invalidArgument = Self(rawValue: "invalid_argument")
    /// The arguments are not a JSON object.
    public static let invalidArguments = Self(rawValue: "invalid_arguments")
    /// The text is not a valid app id, see `AppID`.
    public static let invalidAppID = Self(rawValue: "invalid_app_id")
    /// The text is not a valid account: too long, empty, with white space or control characters, or `.` or `..`.
    public static let invalidAccount = Self(rawValue: "invalid_account")
    /// The text is not a valid channel name: too long, empty, with control characters, or `.` or `..`.
    public static let invalidChannel = Self(rawValue: "invalid_channel")
    /// The text is not a valid attribute name: too long, empty, with control characters, or `.` or `..`.
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
    /// The digits contain a character other than `0`-`9`, `*`, `#`, `A`-`D` and commas.
    public static let invalidDTMF = Self(rawValue: "invalid_dtmf")
    /// The discovery address is not an http or https URL with a host.
    public static let invalidDiscovery = Self(rawValue: "invalid_discovery")
    /// An argument is longer than allowed.
    public static let tooLarge = Self(rawValue: "too_large")
    /// A call's `extra` is longer than allowed.
    public static let extraTooLarge = Self(rawValue: "extra_too_large")
    /// A value to be stored contains the NUL character.
    public static let nulCharacter = Self(rawValue: "nul_character")
}

/// Channels and attributes.
extension SignalingReason {
    /// The session is not a member of the channel.
    public static let notMember = Self(rawValue: "not_member")
    /// The app's server has muted the user in the channel for a time.
    public static let muted = Self(rawValue: "muted")
    /// Clients are not allowed to do this in a special channel of the system.
    public static let specialChannel = Self(rawValue: "special_channel")
    /// The session has joined or left a channel since this request was made.
    public static let superseded = Self(rawValue: "superseded")
    /// An attribute's value is longer than allowed.
    public static let valueTooLarge = Self(rawValue: "value_too_large")
    /// The change would exceed the largest number or size of a user's or channel's attributes; nothing was changed.
    public static let tooManyAttributes = Self(rawValue: "too_many_attributes")
    /// The name has a leading underscore but is not a built-in attribute.
    public static let unknownBuiltIn = Self(rawValue: "unknown_built_in")
    /// The value is not allowed for the built-in attribute.
    public static let invalidBuiltIn = Self(rawValue: "invalid_built_in")
    /// The value of the built-in attribute must be a whole number.
    public static let notAnInteger = Self(rawValue: "not_an_integer")
    /// Only the system may set the attribute.
    public static let readOnly = Self(rawValue: "read_only")
    /// The receiver's mailbox is full, or the sender's share of it is used up.
    public static let mailboxFull = Self(rawValue: "mailbox_full")
}

/// Calls.
extension SignalingReason {
    /// There is no call with that peer in that channel.
    public static let unknownCall = Self(rawValue: "unknown_call")
    /// The call has ended.
    public static let callEnded = Self(rawValue: "call_ended")
    /// The act is not allowed in the call's current state.
    public static let wrongState = Self(rawValue: "wrong_state")
    /// A call between these two parties in that channel is pending.
    public static let reinvite = Self(rawValue: "reinvite")
    /// The caller invites itself.
    public static let selfInvite = Self(rawValue: "self_invite")
    /// The user has the largest allowed number of calls.
    public static let tooManyCalls = Self(rawValue: "too_many_calls")
    /// The user has made the largest allowed number of new calls to telephones in this minute.
    public static let tooManyNewCalls = Self(rawValue: "too_many_new_calls")
    /// The app has the largest allowed number of calls to telephones.
    public static let appCalls = Self(rawValue: "app_calls")
    /// The app has made the largest allowed number of new calls to telephones in this minute.
    public static let appNewCalls = Self(rawValue: "app_new_calls")
}

/// Made by the client library itself.
extension SignalingReason {
    /// No gateway could be reached, or not soon enough to resume the session.
    public static let network = Self(rawValue: "network")
    /// The connection was lost before the answer; whether the call took effect is unknown.
    public static let interrupted = Self(rawValue: "interrupted")
    /// The task that waited was cancelled, or a logout ended the login.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The session ended before the call was answered.
    public static let loggedOut = Self(rawValue: "logged_out")
    /// The user logged out.
    public static let logout = Self(rawValue: "logout")
    /// The client was closed.
    public static let closed = Self(rawValue: "closed")
    /// The largest number of calls that the configuration allows is waiting for answers.
    public static let queueFull = Self(rawValue: "queue_full")
    /// The gateway gave no reason.
    public static let failed = Self(rawValue: "failed")
}

/// Between the cluster's processes.
extension SignalingReason {
    /// There is no key of the server API with that id, or it is revoked or has expired.
    package static let unknownKey = Self(rawValue: "unknown_key")
    /// Not all processes of the cluster have the level that the command needs: an upgrade is not finished.
    package static let clusterLevel = Self(rawValue: "cluster_level")
    /// The user is not a member of the channel from which the app's server removes it.
    package static let noSuchMember = Self(rawValue: "no_such_member")
    /// No process with that id is running.
    package static let unknownProcess = Self(rawValue: "unknown_process")
    /// The user is not banned.
    package static let notBanned = Self(rawValue: "not_banned")
    /// The app has as many bans and revocations as it may, or the channel as many bans and mutes.
    package static let tooManyBans = Self(rawValue: "too_many_bans")
    /// There are as many valid keys of the server API as may be.
    package static let tooManyKeys = Self(rawValue: "too_many_keys")
    /// The attribute has another value than the app's server expected; nothing was changed.
    package static let valueDiffers = Self(rawValue: "value_differs")
    /// Others have changed the same settings meanwhile, or are just changing them; nothing was changed.
    package static let settingsChanged = Self(rawValue: "settings_changed")
    /// A command, reply or record lacks a field, or a field cannot be parsed.
    package static let badFields = Self(rawValue: "bad_fields")
    /// A publication cannot be parsed.
    package static let badEvent = Self(rawValue: "bad_event")
    /// The service does not know the command; it may be of an older release.
    package static let unknownOperation = Self(rawValue: "unknown_operation")
    /// The reply to a command is longer than ``Limits/replyBytes``.
    package static let replyTooLong = Self(rawValue: "reply_too_long")
    /// PostgreSQL refuses a value, and would refuse it again.
    package static let refusedByPostgres = Self(rawValue: "refused_by_postgres")
    /// A call's record in Redis contains a word that this release does not know.
    package static let unreadableCall = Self(rawValue: "unreadable_call")
    /// An invitation was passed to code that handles only acts in an existing call.
    package static let wrongVerb = Self(rawValue: "wrong_verb")
}

/// Between gateways and media nodes. What clients of media calls are told is ``MediaRefusal``.
extension SignalingReason {
    /// The media node that a command is for is gone.
    package static let nodeUnreachable = Self(rawValue: "node_unreachable")
}

/// Dynamic keys.
extension SignalingReason {
    /// A part of the key to be made has the wrong length.
    package static let invalidKeyParts = Self(rawValue: "invalid_key_parts")
}
