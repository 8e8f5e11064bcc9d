/// Asks for an app's settings, which gateways cache for a few seconds. Fails with `unknown_app`.
public struct GetApp: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `app.get`.
    public static let operation = "app.get"
    /// The app's settings.
    public typealias Reply = AppSettings
    /// Which app.
    public var app: AppID

    /// Asks for one app.
    public init(app: AppID) { self.app = app }
}

/// What a gateway must know of an app.
public struct AppSettings: Equatable, Sendable {
    /// The secret that tokens are made with; empty when the app has none. Never logged.
    public var certificate: String
    /// Whether logins must carry a token; otherwise `_no_need_token` is accepted too.
    public var tokenRequired: Bool
    /// How much its users may send.
    public var limits: AppLimits

    /// Joins them.
    public init(certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits()) {
        self.certificate = certificate
        self.tokenRequired = tokenRequired
        self.limits = limits
    }
}

/// Opens a session after the gateway has checked the token: kicks the account's older session, announces the login.
public struct OpenSession: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `session.open`.
    public static let operation = "session.open"
    /// What the login answer tells.
    public typealias Reply = SessionOpened
    /// The gateway that holds the connection.
    public var gateway: GatewayID
    /// The new session's line, made by the gateway; names the user and the session.
    public var line: Line
    /// The client's `device` field, for the admin's views; at most 64 bytes.
    public var device: String
    /// Whether the client takes pushed mailbox entries.
    public var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    public var tokenExpiry: Int64

    /// Opens `line`'s session.
    public init(gateway: GatewayID, line: Line, device: String, push: Bool, tokenExpiry: Int64 = 0) {
        self.gateway = gateway
        self.line = line
        self.device = device
        self.push = push
        self.tokenExpiry = tokenExpiry
    }
}

/// A session was opened.
public struct SessionOpened: Equatable, Sendable {
    /// The account's number, the same at every login.
    public var uid: UInt32
    /// When and by which claim.
    public var hold: SessionHold

    /// Makes the answer.
    public init(uid: UInt32, hold: SessionHold = SessionHold()) {
        self.uid = uid
        self.hold = hold
    }
}

/// What tells sessions of one account, and gateways of one session, apart when Redis has forgotten the last of them.
public struct SessionHold: Equatable, Sendable {
    /// When the session was opened, Redis clock (ms): of two sessions of an account the later one counts.
    public var since: Int64
    /// When the gateway got it, Redis clock (us), at least one more than before: of two gateways the later one has it.
    public var claim: Int64

    /// Makes the record.
    public init(since: Int64 = 0, claim: Int64 = 0) {
        self.since = since
        self.claim = claim
    }
}

/// Moves a session to the asking gateway (`line_login`); its older connection, if any, is dropped silently. Fails with
/// `bad_line` when the session is over or the secret is wrong, with `replaced` (103) when a newer login took its place.
public struct ResumeSession: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `session.resume`.
    public static let operation = "session.resume"
    /// Keeps a session alive.
    public var isVital: Bool { true }
    /// What the gateway must know to go on.
    public typealias Reply = SessionResumed
    /// The gateway that holds the new connection.
    public var gateway: GatewayID
    /// The line that the client sent.
    public var line: Line

    /// Resumes `line`'s session on `gateway`.
    public init(gateway: GatewayID, line: Line) {
        self.gateway = gateway
        self.line = line
    }
}

/// A session was resumed.
public struct SessionResumed: Equatable, Sendable {
    /// The account's number.
    public var uid: UInt32
    /// The channel it is in, if any.
    public var channel: ChannelName?
    /// Whether the client takes pushed mailbox entries.
    public var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    public var tokenExpiry: Int64
    /// When and by which claim.
    public var hold: SessionHold
    /// The number of its last join or leave: the next has a higher one.
    public var turn: Int64

    /// Makes the answer.
    public init(
        uid: UInt32, channel: ChannelName?, push: Bool, tokenExpiry: Int64 = 0, hold: SessionHold = SessionHold(),
        turn: Int64 = 0
    ) {
        self.uid = uid
        self.channel = channel
        self.push = push
        self.tokenExpiry = tokenExpiry
        self.hold = hold
        self.turn = turn
    }
}

/// Tells that a session's connection is lost: it stays alive for the user's `_conn_timeout`. No effect unless the
/// session is still on that gateway.
public struct DetachSession: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `session.detach`.
    public static let operation = "session.detach"
    /// Lets a session end.
    public var isVital: Bool { true }
    /// Nothing.
    public typealias Reply = Done
    /// The gateway that held the connection.
    public var gateway: GatewayID
    /// Whose session.
    public var user: UserKey
    /// Which session.
    public var session: SessionID

    /// Detaches `session`.
    public init(gateway: GatewayID, user: UserKey, session: SessionID) {
        self.gateway = gateway
        self.user = user
        self.session = session
    }
}

/// Ends a session: it leaves its channel, its calls end, the offline event is announced.
public struct CloseSession: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `session.close`.
    public static let operation = "session.close"
    /// Frees memory.
    public var isVital: Bool { true }
    /// Nothing.
    public typealias Reply = Done
    /// Whose session.
    public var user: UserKey
    /// Which session; an older one than the user's present one has no effect.
    public var session: SessionID
    /// Why, as the members of its channel are told: ``SignalingCode/leaveLogout`` and its like.
    public var reason: SignalingCode

    /// Ends `session`.
    public init(user: UserKey, session: SessionID, reason: SignalingCode) {
        self.user = user
        self.session = session
        self.reason = reason
    }
}

/// Ends a user's session, whichever it is, by an administrator's order: its client is closed with 100.
public struct DisconnectUser: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `user.disconnect`.
    public static let operation = "user.disconnect"
    /// Nothing.
    public typealias Reply = Done
    /// Whom.
    public var user: UserKey

    /// Disconnects `user`.
    public init(user: UserKey) { self.user = user }
}

/// Asks whether a user is online (a detached session counts as online).
public struct QueryUserStatus: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `user.status`.
    public static let operation = "user.status"
    /// The status.
    public typealias Reply = UserStatus
    /// Whom.
    public var user: UserKey

    /// Asks about `user`.
    public init(user: UserKey) { self.user = user }
}

/// Whether a user is online.
public struct UserStatus: Equatable, Sendable {
    /// True from login to logout or `_conn_timeout` seconds after the connection is lost.
    public var online: Bool

    /// Makes the answer.
    public init(online: Bool) { self.online = online }
}

/// Sets one of a user's attributes; answered after the change is committed in PostgreSQL. The session must be the user's
/// present one, at the asking gateway.
public struct SetUserAttribute: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `user.attribute.set`.
    public static let operation = "user.attribute.set"
    /// Nothing.
    public typealias Reply = Done
    /// Whose.
    public var user: UserKey
    /// By which session.
    public var session: SessionID
    /// What.
    public var attribute: Attribute

    /// Sets `attribute`.
    public init(user: UserKey, session: SessionID, attribute: Attribute) {
        self.user = user
        self.session = session
        self.attribute = attribute
    }
}

/// Asks for one of a user's attributes; a missing one is the empty string.
public struct GetUserAttribute: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `user.attribute.get`.
    public static let operation = "user.attribute.get"
    /// The value.
    public typealias Reply = AttributeValue
    /// Whose.
    public var user: UserKey
    /// Which.
    public var name: AttributeName

    /// Asks for `name`.
    public init(user: UserKey, name: AttributeName) {
        self.user = user
        self.name = name
    }
}

/// An attribute's value.
public struct AttributeValue: Equatable, Sendable {
    /// Empty when missing.
    public var value: String

    /// Makes the answer.
    public init(value: String) { self.value = value }
}

/// Asks for all of a user's attributes.
public struct ListUserAttributes: ServiceCommand {
    /// presence.
    public static let service = ServiceName.presence
    /// `user.attribute.list`.
    public static let operation = "user.attribute.list"
    /// All of them.
    public typealias Reply = AttributeList
    /// Whose.
    public var user: UserKey

    /// Asks for `user`'s.
    public init(user: UserKey) { self.user = user }
}

/// All attributes of a user or a channel, by name.
public struct AttributeList: Equatable, Sendable {
    /// Sorted by name.
    public var attributes: [Attribute]

    /// Makes the answer.
    public init(attributes: [Attribute]) { self.attributes = attributes }
}
