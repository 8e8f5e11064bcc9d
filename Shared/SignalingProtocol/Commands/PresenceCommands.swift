/// Asks for an app's settings, which gateways cache for a few seconds. Fails with `unknown_app`.
package struct GetApp: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `app.get`.
    package static let operation = "app.get"
    /// The app's settings.
    package typealias Reply = AppSettings
    /// Which app.
    package var app: AppID

    /// Asks for one app.
    package init(app: AppID) { self.app = app }
}

/// What a gateway must know of an app.
package struct AppSettings: Equatable, Sendable {
    /// The secret that tokens are made with; empty when the app has none. Never logged.
    package var certificate: String
    /// Whether logins must carry a token; otherwise `_no_need_token` is accepted too.
    package var tokenRequired: Bool
    /// How much its users may send.
    package var limits: AppLimits

    /// Joins them.
    package init(certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits()) {
        self.certificate = certificate
        self.tokenRequired = tokenRequired
        self.limits = limits
    }
}

/// Opens a session after the gateway has checked the token: kicks the account's older session, announces the login.
package struct OpenSession: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `session.open`.
    package static let operation = "session.open"
    /// What the login answer tells.
    package typealias Reply = SessionOpened
    /// The gateway that holds the connection.
    package var gateway: GatewayID
    /// The new session's line, made by the gateway; names the user and the session.
    package var line: Line
    /// The client's `device` field, for the admin's views; at most 64 bytes.
    package var device: String
    /// Whether the client takes pushed mailbox entries.
    package var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    package var tokenExpiry: Int64

    /// Opens `line`'s session.
    package init(gateway: GatewayID, line: Line, device: String, push: Bool, tokenExpiry: Int64 = 0) {
        self.gateway = gateway
        self.line = line
        self.device = device
        self.push = push
        self.tokenExpiry = tokenExpiry
    }
}

/// A session was opened.
package struct SessionOpened: Equatable, Sendable {
    /// The account's number, the same at every login.
    package var uid: UInt32
    /// When and by which claim.
    package var hold: SessionHold

    /// Makes the answer.
    package init(uid: UInt32, hold: SessionHold = SessionHold()) {
        self.uid = uid
        self.hold = hold
    }
}

/// What tells sessions of one account, and gateways of one session, apart when Redis has forgotten the last of them.
package struct SessionHold: Equatable, Sendable {
    /// When the session was opened, Redis clock (ms): of two sessions of an account the later one counts.
    package var since: Int64
    /// When the gateway got it, Redis clock (us), at least one more than before: of two gateways the later one has it.
    package var claim: Int64

    /// Makes the record.
    package init(since: Int64 = 0, claim: Int64 = 0) {
        self.since = since
        self.claim = claim
    }
}

/// Moves a session to the asking gateway (`line_login`); its older connection, if any, is dropped silently. Fails with
/// `bad_line` when the session is over or the secret is wrong, with `replaced` (103) when a newer login took its place.
package struct ResumeSession: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `session.resume`.
    package static let operation = "session.resume"
    /// Keeps a session alive.
    package var isVital: Bool { true }
    /// What the gateway must know to go on.
    package typealias Reply = SessionResumed
    /// The gateway that holds the new connection.
    package var gateway: GatewayID
    /// The line that the client sent.
    package var line: Line

    /// Resumes `line`'s session on `gateway`.
    package init(gateway: GatewayID, line: Line) {
        self.gateway = gateway
        self.line = line
    }
}

/// A session was resumed.
package struct SessionResumed: Equatable, Sendable {
    /// The account's number.
    package var uid: UInt32
    /// The channel it is in, if any.
    package var channel: ChannelName?
    /// Whether the client takes pushed mailbox entries.
    package var push: Bool
    /// When the login's token expires, Unix seconds; 0: it had none.
    package var tokenExpiry: Int64
    /// When and by which claim.
    package var hold: SessionHold
    /// The number of its last join or leave: the next has a higher one.
    package var turn: Int64

    /// Makes the answer.
    package init(
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
package struct DetachSession: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `session.detach`.
    package static let operation = "session.detach"
    /// Lets a session end.
    package var isVital: Bool { true }
    /// Nothing.
    package typealias Reply = Done
    /// The gateway that held the connection.
    package var gateway: GatewayID
    /// Whose session.
    package var user: UserKey
    /// Which session.
    package var session: SessionID

    /// Detaches `session`.
    package init(gateway: GatewayID, user: UserKey, session: SessionID) {
        self.gateway = gateway
        self.user = user
        self.session = session
    }
}

/// Ends a session: it leaves its channel, its calls end, the offline event is announced.
package struct CloseSession: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `session.close`.
    package static let operation = "session.close"
    /// Frees memory.
    package var isVital: Bool { true }
    /// Nothing.
    package typealias Reply = Done
    /// Whose session.
    package var user: UserKey
    /// Which session; an older one than the user's present one has no effect.
    package var session: SessionID
    /// Why, as the members of its channel are told: ``SignalingCode/leaveLogout`` and its like.
    package var reason: SignalingCode

    /// Ends `session`.
    package init(user: UserKey, session: SessionID, reason: SignalingCode) {
        self.user = user
        self.session = session
        self.reason = reason
    }
}

/// Ends a user's session, whichever it is, by an administrator's order: its client is closed with 100.
package struct DisconnectUser: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.disconnect`.
    package static let operation = "user.disconnect"
    /// Nothing.
    package typealias Reply = Done
    /// Whom.
    package var user: UserKey

    /// Disconnects `user`.
    package init(user: UserKey) { self.user = user }
}

/// Asks whether a user is online (a detached session counts as online).
package struct QueryUserStatus: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.status`.
    package static let operation = "user.status"
    /// The status.
    package typealias Reply = UserStatus
    /// Whom.
    package var user: UserKey

    /// Asks about `user`.
    package init(user: UserKey) { self.user = user }
}

/// Whether a user is online.
package struct UserStatus: Equatable, Sendable {
    /// True from login to logout or `_conn_timeout` seconds after the connection is lost.
    package var online: Bool

    /// Makes the answer.
    package init(online: Bool) { self.online = online }
}

/// Sets one of a user's attributes; answered after the change is committed in PostgreSQL. The session must be the user's
/// present one, at the asking gateway.
package struct SetUserAttribute: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.set`.
    package static let operation = "user.attribute.set"
    /// Nothing.
    package typealias Reply = Done
    /// Whose.
    package var user: UserKey
    /// By which session.
    package var session: SessionID
    /// What.
    package var attribute: Attribute

    /// Sets `attribute`.
    package init(user: UserKey, session: SessionID, attribute: Attribute) {
        self.user = user
        self.session = session
        self.attribute = attribute
    }
}

/// Asks for one of a user's attributes; a missing one is the empty string.
package struct GetUserAttribute: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.get`.
    package static let operation = "user.attribute.get"
    /// The value.
    package typealias Reply = AttributeValue
    /// Whose.
    package var user: UserKey
    /// Which.
    package var name: AttributeName

    /// Asks for `name`.
    package init(user: UserKey, name: AttributeName) {
        self.user = user
        self.name = name
    }
}

/// An attribute's value.
package struct AttributeValue: Equatable, Sendable {
    /// Empty when missing.
    package var value: String

    /// Makes the answer.
    package init(value: String) { self.value = value }
}

/// Asks for all of a user's attributes.
package struct ListUserAttributes: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.list`.
    package static let operation = "user.attribute.list"
    /// All of them.
    package typealias Reply = AttributeList
    /// Whose.
    package var user: UserKey

    /// Asks for `user`'s.
    package init(user: UserKey) { self.user = user }
}

/// All attributes of a user or a channel, by name.
package struct AttributeList: Equatable, Sendable {
    /// Sorted by name.
    package var attributes: [Attribute]

    /// Makes the answer.
    package init(attributes: [Attribute]) { self.attributes = attributes }
}
