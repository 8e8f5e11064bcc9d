package import SignalingProtocol
internal import SignalingTokens

/// The login of one client connection: from the first frame to the session and its end.
package struct ConnectionStateMachine: ~Copyable {
    private enum State {
        /// No login was attempted. Goes to `authenticating`, `resuming`, `closed`.
        case fresh
        /// Waiting for the app's settings. Goes to `opening`, `closed`.
        case authenticating(Login)
        /// Presence is opening the new session. Goes to `active`, `closed`, `orphaned`.
        case opening(Session)
        /// Presence is moving an existing session to this gateway. Goes to `active`, `closed`, `orphaned`.
        case resuming(Session)
        /// Logged in. Goes to `loggingOut`, `closed`.
        case active(Session)
        /// The logout is in progress. Goes to `closed`.
        case loggingOut(Session)
        /// The connection was lost while its session was being opened or resumed; the reply decides what to do. Goes to
        /// `closed`.
        case orphaned(Session)
        /// Ended.
        case closed
    }

    private struct Login {
        var user: UserKey
        var token: String
        var device: String
        var push: Bool
    }

    /// The session of a connection.
    package struct Session: Equatable, Sendable {
        /// The session's line.
        package var line: Line
        /// The account's numeric id; 0 until known.
        package var uid: UInt32 = 0
        /// The client's `device` field.
        package var device: String
        /// Whether the client accepts pushed mailbox entries.
        package var push: Bool
        /// When the login's token expires, in Unix seconds; 0 when there was none.
        package var tokenExpiry: Int64 = 0
        /// When the session was opened, and this gateway's claim on it.
        package var hold = SessionHold()

        /// Creates a session as requested by a login.
        package init(line: Line, device: String, push: Bool) {
            self.line = line
            self.device = device
            self.push = push
        }

        /// The session's user.
        package var user: UserKey { line.user }
    }

    /// How the gateway ends a connection whose session has ended or moved.
    package enum Ending: Equatable, Sendable {
        /// Send a `close` frame with this code first.
        case closeFrame(SignalingCode)
        /// Send no `close` frame: the session continues on another connection.
        case silent
    }

    /// What the driver must do.
    package enum Action: Equatable, Sendable {
        /// Request the app's settings, then call ``appAnswered(_:session:secret:now:)``.
        case askApp(AppID)
        /// Open this session in presence, then call ``opened(_:)``.
        case open(Session)
        /// Move this session to this gateway, then call ``resumed(_:)``.
        case resume(Session)
        /// Write the login's answer and start the mailbox.
        case loggedIn(Session)
        /// Write the resume's answer, start the mailbox, and continue in the channel, if there is one.
        case resumed(Session, channel: ChannelName?)
        /// Write the login's refusal, then end the connection.
        case refuse(SignalingError)
        /// As `refuse`. Presence may have opened the session although no reply arrived, so it must be informed that
        /// there is no connection.
        case refuseOpened(SignalingError, Session)
        /// Write a `close` frame with this code, then end. Presence may have moved the session here although no reply
        /// arrived.
        case refuseResumed(SignalingCode, Session)
        /// Refuse a login or resume, because the connection already has a session; that session continues.
        case refuseSecond(isResume: Bool)
        /// End the connection.
        case end(Ending)
        /// Tell presence that the session continues without a connection.
        case detach(Session)
        /// Nothing.
        case none
    }

    private var state = State.fresh
    /// The number of the last join or leave of the resumed session.
    package private(set) var resumedMoveNumber: Int64 = 0
    /// The login (false) or resume (true) to refuse once the one in progress is answered; at most one element.
    private var second: [Bool] = []

    /// Creates a connection that has received no frame yet.
    package init() {}

    /// The session, while it may make calls.
    package var activeSession: Session? {
        if case .active(let session) = state { session } else { nil }
    }

    /// Whether the session may make calls.
    package var isActive: Bool {
        if case .active = state { true } else { false }
    }

    /// Whether calls are queued. They are already while a session is being resumed, because clients do not wait for
    /// that answer.
    package var takesCalls: Bool {
        switch state {
        case .active, .resuming: true
        case .fresh, .authenticating, .opening, .loggingOut, .orphaned, .closed: false
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
            let user = UserKey(app: try AppID(vid ?? ""), account: try Account(account))
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
        do {
            session.tokenExpiry = try Self.checkToken(
                login.token, user: login.user, settings: answer.get(), now: now)
        } catch {
            return refuse(error)
        }
        state = .opening(session)
        return .open(session)
    }

    /// Takes presence's reply to the opening of the session.
    package mutating func opened(_ answer: Result<SessionOpened, SignalingError>) -> Action {
        switch (state, answer) {
        case (.opening(var session), .success(let opened)):
            session.uid = opened.uid
            session.hold = opened.hold
            state = .active(session)
            return .loggedIn(session)
        case (.opening(let session), .failure(let error)):
            state = .closed
            return .refuseOpened(error, session)
        case (.orphaned(let session), _):
            state = .closed
            return .detach(session)
        case (.fresh, _), (.authenticating, _), (.resuming, _), (.active, _), (.loggingOut, _), (.closed, _):
            return .none
        }
    }

    /// Handles a client's resume.
    package mutating func lineLogin(_ wire: String) -> Action {
        guard case .fresh = state else { return refuseSecond(isResume: true) }
        guard let line = try? Line(wire: wire) else { return end(.closeFrame(.notLoggedIn)) }
        let session = Session(line: line, device: "", push: false)
        state = .resuming(session)
        return .resume(session)
    }

    /// Takes presence's reply to the move of the session.
    package mutating func resumed(_ answer: Result<SessionResumed, SignalingError>) -> Action {
        switch (state, answer) {
        case (.resuming(var session), .success(let resumed)):
            session.uid = resumed.uid
            session.push = resumed.push
            session.tokenExpiry = resumed.tokenExpiry
            session.hold = resumed.hold
            resumedMoveNumber = resumed.moveNumber
            state = .active(session)
            return .resumed(session, channel: resumed.channel)
        case (.resuming(let session), .failure(let error)):
            state = .closed
            return .refuseResumed(error.code, session)
        case (.orphaned(let session), _):
            state = .closed
            return .detach(session)
        case (.fresh, _), (.authenticating, _), (.opening, _), (.active, _), (.loggingOut, _), (.closed, _):
            return .none
        }
    }

    /// Returns the refusals that were postponed until the login or resume was answered.
    package mutating func takeSecond() -> [Action] {
        defer { second = [] }
        return second.map { .refuseSecond(isResume: $0) }
    }

    /// Refuses another login: at once, or after the one in progress is answered.
    private mutating func refuseSecond(isResume: Bool) -> Action {
        switch state {
        case .active: return .refuseSecond(isResume: isResume)
        case .authenticating, .opening, .resuming:
            // More than one refusal would tell the client nothing new.
            if second.isEmpty { second.append(isResume) }
            return .none
        case .fresh, .loggingOut, .orphaned, .closed: return .none
        }
    }

    /// Handles the client's logout: from here on, the loss of the connection ends the session.
    package mutating func logsOut() {
        if case .active(let session) = state { state = .loggingOut(session) }
    }

    /// Called when the session was moved or has ended elsewhere.
    /// - Parameter ending: how the connection ends.
    package mutating func superseded(_ ending: Ending) -> Action {
        if case .closed = state { return .none }
        return end(ending)
    }

    /// Called when the connection is lost, or must be closed although the session stays alive.
    package mutating func connectionLost() -> Action {
        switch state {
        case .active(let session):
            state = .closed
            return .detach(session)
        case .opening(let session), .resuming(let session):
            state = .orphaned(session)
            return .none
        case .fresh, .authenticating, .loggingOut:
            state = .closed
            return .none
        case .orphaned, .closed:
            return .none
        }
    }

    private mutating func refuse(_ error: SignalingError) -> Action {
        state = .closed
        return .refuse(error)
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .closed
        return .end(ending)
    }

    /// Checks whether the session's token has expired; called only if the gateway enforces that.
    /// - Parameter now: Unix seconds.
    /// - Returns: the session to end; nil while the token is valid.
    package func expiredSession(now: Int64) -> Session? {
        guard case .active(let session) = state, session.tokenExpiry != 0, session.tokenExpiry <= now else {
            return nil
        }
        return session
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
