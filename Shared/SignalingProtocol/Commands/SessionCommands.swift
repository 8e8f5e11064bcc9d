/// Opens a session after the gateway has checked the token: kicks the account's older session, announces the login.
package struct OpenSession: ServiceCommand {
    package static let service = ServiceName.presence
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

    package init(since: Int64 = 0, claim: Int64 = 0) {
        self.since = since
        self.claim = claim
    }
}

/// Moves a session to the asking gateway (`line_login`); its older connection, if any, is dropped silently. Fails with
/// `bad_line` when the session is over or the secret is wrong, with `replaced` (103) when a newer login took its place.
package struct ResumeSession: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "session.resume"
    /// Keeps a session alive.
    package var isVital: Bool { true }
    /// What the gateway must know to go on.
    package typealias Reply = SessionResumed
    /// The gateway that holds the new connection.
    package var gateway: GatewayID
    /// The line that the client sent.
    package var line: Line

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
    package static let service = ServiceName.presence
    package static let operation = "session.detach"
    /// Lets a session end.
    package var isVital: Bool { true }
    package typealias Reply = Done
    /// The gateway that held the connection.
    package var gateway: GatewayID
    package var user: UserKey
    package var session: SessionID

    package init(gateway: GatewayID, user: UserKey, session: SessionID) {
        self.gateway = gateway
        self.user = user
        self.session = session
    }
}

/// Ends a session: it leaves its channel, its calls end, the offline event is announced.
package struct CloseSession: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "session.close"
    /// Frees memory.
    package var isVital: Bool { true }
    package typealias Reply = Done
    package var user: UserKey
    /// Which session; an older one than the user's present one has no effect.
    package var session: SessionID
    /// Why, as the members of its channel are told: ``SignalingCode/leaveLogout`` and its like.
    package var reason: SignalingCode

    package init(user: UserKey, session: SessionID, reason: SignalingCode) {
        self.user = user
        self.session = session
        self.reason = reason
    }
}
