package import BusProtocol
package import SignalingProtocol
internal import SignalingTokens

/// The login of one client connection: from the first frame to the session and its end.
package struct ConnectionStateMachine: ~Copyable {
    // What lasts longer than a moment is in place: a closed connection, and a session that is logged in. The rest is on
    // the heap while it lasts, because every connection would have room for the largest.
    private enum State {
        /// No login was attempted. Goes to `authenticating`, `resuming`, `closed`.
        case fresh
        /// Waiting for the app's settings. Goes to `authorizing`, `opening`, `closed`.
        indirect case authenticating(Login)
        /// Waiting for the app's server to allow the login. Goes to `opening`, `closed`.
        indirect case authorizing(Session)
        /// Presence is opening the new session. Goes to `active`, `closed`, `orphaned`.
        indirect case opening(Session)
        /// Presence is moving an existing session to this gateway; `after` as in ``lineLogin(_:after:)``. Goes to
        /// `active`, `closed`, `orphaned`.
        indirect case resuming(Session, after: Int64?)
        /// Logged in. Goes to `loggingOut`, `closed`.
        case active(ActiveSession)
        /// Logged in; presence was asked to end the session, which is to be the answer to this call. Goes to `active`,
        /// `closed`.
        indirect case loggingOut(ActiveSession, CallTicket)
        /// The connection was lost while its session was being opened or resumed; the reply decides what to do. Goes to
        /// `closed`.
        indirect case orphaned(Session)
        /// Ended. The session that was logged in, if any.
        case closed(ActiveSession?)
    }

    private struct Login {
        var user: UserKey
        var token: String
        var device: String
        var push: Bool
    }

    private var state = State.fresh
    /// The session that is registered for this connection; nil before it is being opened or was resumed, and after
    /// ``unbind()``.
    private var bound: SessionID?
    /// The second login or resume, to be refused once the one in progress is answered.
    private var second = Second.none

    private enum Second {
        case none, login, resume
    }

    /// Creates a connection that has received no frame yet.
    package init() {}

    /// The session, while it is logged in.
    package var active: ActiveSession? {
        switch state {
        case .active(let active), .loggingOut(let active, _): active
        case .fresh, .authenticating, .authorizing, .opening, .resuming, .orphaned, .closed: nil
        }
    }

    /// The user of the session, or of the login or resume that is in progress.
    var user: UserKey? {
        switch state {
        case .authenticating(let login): login.user
        case .authorizing(let session), .opening(let session), .resuming(let session, _), .orphaned(let session):
            session.user
        case .active(let active), .loggingOut(let active, _): active.user
        case .fresh, .closed: nil
        }
    }

    /// The line, as clients send it, of the session that is logged in or is being resumed.
    var line: String? {
        if case .resuming(let session, _) = state { session.line.wire } else { active?.session.line.wire }
    }

    /// The session that is logged in, or was until the end.
    var lastActive: ActiveSession? {
        if case .closed(let last) = state { last } else { active }
    }

    /// The call for which presence was asked to end the session.
    var logout: CallTicket? {
        if case .loggingOut(_, let ticket) = state { ticket } else { nil }
    }

    /// Whether a login or resume is in progress, which the client is still to be told of.
    var isUnderWay: Bool {
        switch state {
        case .authenticating, .authorizing, .opening, .resuming: true
        case .fresh, .active, .loggingOut, .orphaned, .closed: false
        }
    }

    /// Whether the connection has ended or is about to. Only a reply about a session that is being opened or resumed
    /// has an effect then.
    package var isOver: Bool {
        switch state {
        case .orphaned, .closed: true
        case .fresh, .authenticating, .authorizing, .opening, .resuming, .active, .loggingOut: false
        }
    }

    /// Whether calls are queued. They are already while a session is being resumed, because clients do not wait for
    /// that answer.
    package var takesCalls: Bool {
        switch state {
        case .active, .loggingOut, .resuming: true
        case .fresh, .authenticating, .authorizing, .opening, .orphaned, .closed: false
        }
    }

    /// Whether no login was attempted yet.
    package var isFresh: Bool {
        if case .fresh = state { true } else { false }
    }

    /// Handles a client's login.
    /// - Parameter app: nil in the oldest clients, which name the app only in the token's second field.
    package mutating func login(
        app: String?, account: String, token: String, device: String, push: Bool
    ) -> Action {
        guard case .fresh = state else { return refuseSecond(isResume: false) }
        do {
            let vid =
                app ?? token.split(separator: ":", omittingEmptySubsequences: false).dropFirst().first.map(String.init)
            let user = UserKey(app: try AppID(vid ?? ""), account: try Account(new: account))
            state = .authenticating(Login(user: user, token: token, device: device, push: push))
            return .askApp(user.app)
        } catch {
            return refuse(error)
        }
    }

    /// Takes the app's settings, or the error of the request.
    /// - Parameters:
    ///   - session: the id of the new session.
    ///   - secret: the secret of the new session's line.
    ///   - now: Unix seconds.
    package mutating func appAnswered(
        _ answer: Result<AppSettings, SignalingError>, session: SessionID, secret: String, now: Int64
    ) -> Action {
        guard case .authenticating(let login) = state else { return .none }
        let line = Line(user: login.user, session: session, secret: secret)
        var session = Session(line: line, device: login.device, push: login.push)
        let settings: AppSettings
        do {
            settings = try answer.get()
            session.tokenExpiry = try Self.checkToken(login.token, user: login.user, settings: settings, now: now)
        } catch {
            return refuse(error)
        }
        guard settings.hook?.points.contains(.login) == true else { return open(session) }
        state = .authorizing(session)
        return .askHook(.login(login.user, token: login.token, device: login.device))
    }

    /// Takes the verdict of the app's server.
    package mutating func authorized(_ verdict: HookVerdict) -> Action {
        // The connection was lost meanwhile.
        guard case .authorizing(let session) = state else { return .none }
        return switch verdict {
        case .allowed, .rewritten: open(session)
        case .refused(let error): refuse(error)
        }
    }

    private mutating func open(_ session: Session) -> Action {
        state = .opening(session)
        bound = session.line.session
        return .open(session)
    }

    /// Takes the text of the session's app from elsewhere: each text of a session takes up memory of its connection.
    mutating func share(_ app: AppID) {
        switch state {
        case .opening(var session):
            session.line = session.line.sharing(app)
            state = .opening(session)
        case .resuming(var session, let after):
            session.line = session.line.sharing(app)
            state = .resuming(session, after: after)
        case .fresh, .authenticating, .authorizing, .active, .loggingOut, .orphaned, .closed: break
        }
    }

    /// Takes presence's reply to the opening of the session.
    package mutating func opened(_ answer: Result<SessionOpened, SignalingError>) -> Action {
        switch (state, answer) {
        case (.opening(var session), .success(let opened)):
            session.uid = opened.uid
            session.hold = opened.hold
            let active = ActiveSession(session)
            state = .active(active)
            return .loggedIn(active, opened.mail)
        case (.opening(let session), .failure(let error)):
            state = .closed(nil)
            return .refuseOpened(error, session)
        case (.orphaned(let session), .failure(let error)):
            state = .closed(nil)
            return error.reason == .overloaded ? .none : .detachDoubtful(session)
        case (.orphaned(let session), .success):
            state = .closed(nil)
            return .detach(session)
        case (.fresh, _), (.authenticating, _), (.authorizing, _), (.resuming, _), (.active, _), (.loggingOut, _),
            (.closed, _):
            return .none
        }
    }

    /// Handles a client's resume.
    /// - Parameter after: the last `channel2` id that the client has received; nil when it does not request missed
    ///   events.
    package mutating func lineLogin(_ wire: String, after: Int64? = nil) -> Action {
        guard case .fresh = state else { return refuseSecond(isResume: true) }
        guard let line = try? Line(wire: wire) else { return end(.closeFrame(.notLoggedIn)) }
        let session = Session(line: line, device: "", push: false)
        state = .resuming(session, after: after)
        return .resume(session)
    }

    /// Takes presence's reply to the move of the session.
    package mutating func resumed(_ answer: Result<SessionResumed, SignalingError>) -> Action {
        switch (state, answer) {
        case (.resuming(var session, let after), .success(let resumed)):
            session.uid = resumed.uid
            session.push = resumed.push
            session.tokenExpiry = resumed.tokenExpiry
            session.hold = resumed.hold
            let active = ActiveSession(session)
            state = .active(active)
            bound = active.id
            let place = ChannelPlace(moveNumber: resumed.moveNumber, channel: resumed.channel)
            return .resumed(active, place, after: after, resumed.mail)
        case (.resuming(let session, _), .failure(let error)):
            state = .closed(nil)
            return .refuseResumed(error, session)
        case (.orphaned(let session), .failure(let error)):
            state = .closed(nil)
            return .noteRefusedResume(error, session)
        case (.orphaned(let session), .success):
            state = .closed(nil)
            return .detach(session)
        case (.fresh, _), (.authenticating, _), (.authorizing, _), (.opening, _), (.active, _), (.loggingOut, _),
            (.closed, _):
            return .none
        }
    }

    /// Returns the refusal that was postponed until the login or resume was answered, if any.
    package mutating func takeSecond() -> Action {
        defer { second = .none }
        return switch second {
        case .none: .none
        case .login: .refuseSecond(isResume: false)
        case .resume: .refuseSecond(isResume: true)
        }
    }

    /// Refuses another login: at once, or after the one in progress is answered.
    private mutating func refuseSecond(isResume: Bool) -> Action {
        switch state {
        case .active, .loggingOut: return .refuseSecond(isResume: isResume)
        case .authenticating, .authorizing, .opening, .resuming:
            // More than one refusal would tell the client nothing new.
            if second == .none { second = isResume ? .resume : .login }
            return .none
        case .fresh, .orphaned, .closed: return .none
        }
    }

    /// Handles the client's logout, by this call; presence's reply decides.
    package mutating func logsOut(_ ticket: CallTicket) {
        if case .active(let active) = state { state = .loggingOut(active, ticket) }
    }

    /// Takes presence's reply to the logout.
    /// - Parameter isOver: whether the session has ended; it continues otherwise.
    package mutating func loggedOut(isOver: Bool) {
        if case .loggingOut(let active, _) = state { state = isOver ? .closed(active) : .active(active) }
    }

    /// Called when the session was moved or has ended elsewhere.
    /// - Parameter ending: how the connection ends.
    package mutating func superseded(_ ending: Ending) -> Action {
        switch state {
        case .fresh, .authenticating, .authorizing, .opening, .resuming, .active, .loggingOut: return end(ending)
        case .orphaned:
            // There is neither a connection to close nor a session to detach.
            state = .closed(nil)
            return .none
        case .closed: return .none
        }
    }

    /// Called when the connection is lost, or must be closed although the session stays alive.
    package mutating func connectionLost() -> Action {
        switch state {
        case .active(let active), .loggingOut(let active, _):
            state = .closed(active)
            return .detach(active.session)
        case .opening(let session), .resuming(let session, _):
            state = .orphaned(session)
            return .none
        case .fresh, .authenticating, .authorizing:
            state = .closed(nil)
            return .none
        case .orphaned, .closed:
            return .none
        }
    }

    /// Returns the session whose registration for this connection must be removed, once.
    mutating func unbind() -> SessionID? {
        defer { bound = nil }
        return bound
    }

    private mutating func refuse(_ error: SignalingError) -> Action {
        state = .closed(nil)
        return .refuse(error)
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .closed(active)
        return .end(ending)
    }

    /// Checks whether the session's token has expired; called only if the gateway enforces that.
    /// - Parameter now: Unix seconds.
    package func hasExpired(now: Int64) -> Bool {
        guard let expiry = active?.session.tokenExpiry else { return false }
        return expiry != 0 && expiry <= now
    }

    /// Checks the token. Source: `Docs/protocol.md`, `login`.
    /// - Returns: when the token expires; 0 without a token.
    static func checkToken(
        _ token: String, user: UserKey, settings: AppSettings, now: Int64
    ) throws(SignalingError) -> Int64 {
        if token == SignalingToken.none {
            guard settings.tokenRequired else { return 0 }
            throw SignalingError(.loginTokenWrong, .tokenErrorRequired, "the app requires tokens")
        }
        if settings.certificate.isEmpty, !settings.tokenRequired { return 0 }
        return try SignalingToken.check(
            token, account: user.account, app: user.app, certificate: settings.certificate, now: now)
    }
}
