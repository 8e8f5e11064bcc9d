package import SignalingProtocol
internal import SignalingTokens

/// The life of one client connection: from the first frame to the session it carries and its end.
package struct ConnectionStateMachine: ~Copyable {
    private enum State {
        /// No login was asked for. Goes to `authenticating`, `resuming`, `closed`.
        case fresh
        /// The app's settings are awaited. Goes to `opening`, `closed`.
        case authenticating(Login)
        /// The new session is being opened. Goes to `active`, `closed`, `orphaned`.
        case opening(Session)
        /// An old session is being moved here. Goes to `active`, `closed`, `orphaned`.
        case resuming(Session)
        /// Logged in. Goes to `loggingOut`, `closed`.
        case active(Session)
        /// The logout is under way. Goes to `closed`.
        case loggingOut(Session)
        /// The connection went away while its session was being opened or resumed: the answer decides. Goes to `closed`.
        case orphaned(Session)
        /// The end.
        case closed
    }

    private struct Login {
        var user: UserKey
        var token: String
        var device: String
        var push: Bool
    }

    /// The session that a connection carries.
    package struct Session: Equatable, Sendable {
        /// Its line.
        package var line: Line
        /// The account's number; 0 until known.
        package var uid: UInt32 = 0
        /// The client's `device` field.
        package var device: String
        /// Whether the client takes pushed mailbox entries.
        package var push: Bool
        /// When the login's token expires, Unix seconds; 0: it had none.
        package var tokenExpiry: Int64 = 0
        /// When it was opened, and the claim by which this gateway holds it.
        package var hold = SessionHold()

        /// A session as a login asks for it.
        package init(line: Line, device: String, push: Bool) {
            self.line = line
            self.device = device
            self.push = push
        }

        /// The user whose session it is.
        package var user: UserKey { line.user }
    }

    /// How the gateway ends a connection whose session is over, or elsewhere.
    package enum Ending: Equatable, Sendable {
        /// Write the `close` frame with this code first.
        case closeFrame(SignalingCode)
        /// Write nothing: the session lives on with another connection.
        case silent
    }

    /// What the driver has to do.
    package enum Action: Equatable, Sendable {
        /// Ask for the app's settings, then call ``appAnswered(_:now:makeLine:)``.
        case askApp(AppID)
        /// Open this session at presence, then call ``opened(_:)``.
        case open(Session)
        /// Move this session here, then call ``resumed(_:)``.
        case resume(Session)
        /// Write the login answer, start the mailbox.
        case loggedIn(Session)
        /// Write the resume answer, start the mailbox, go on in the channel if there is one.
        case resumed(Session, channel: ChannelName?)
        /// Write the login's refusal, then end.
        case refuse(SignalingError)
        /// As `refuse`. Presence may have opened the session although no answer came, so it must be told that there is no
        /// connection.
        case refuseOpened(SignalingError, Session)
        /// Write the `close` frame with this code, then end. The session may have been moved here although no answer came.
        case refuseResumed(SignalingCode, Session)
        /// Refuse a login or resume, because the connection has a session already; that session goes on.
        case refuseSecond(isResume: Bool)
        /// End the connection.
        case end(Ending)
        /// The connection is gone: tell presence that the session lives on without one.
        case detach(Session)
        /// Nothing.
        case none
    }

    private var state = State.fresh
    /// The number of the last join or leave of the session that was resumed.
    package private(set) var resumedTurn: Int64 = 0
    /// The login (false) or resume (true) to refuse once the one under way is answered; at most one.
    private var second: [Bool] = []

    /// A connection that has received no frame yet.
    package init() {}

    /// The session, while it may act.
    package var activeSession: Session? {
        if case .active(let session) = state { session } else { nil }
    }

    /// Whether the session may act.
    package var isActive: Bool {
        if case .active = state { true } else { false }
    }

    /// Whether calls may be queued (a client that resumes does not wait for the answer).
    package var takesCalls: Bool {
        switch state {
        case .active, .resuming: true
        case .fresh, .authenticating, .opening, .loggingOut, .orphaned, .closed: false
        }
    }

    /// Whether no login was tried yet.
    package var isFresh: Bool {
        if case .fresh = state { true } else { false }
    }

    /// The client logs in.
    /// - Parameter app: absent in the oldest clients: it stands in the token's second field then.
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

    /// The app's settings were answered, or could not be had.
    /// - Parameters:
    ///   - now: Unix seconds.
    ///   - makeLine: makes the new session's line.
    package mutating func appAnswered(
        _ answer: Result<AppSettings, SignalingError>, now: Int64, makeLine: (UserKey) -> Line
    ) -> Action {
        guard case .authenticating(let login) = state else { return .none }
        var session = Session(line: makeLine(login.user), device: login.device, push: login.push)
        do {
            session.tokenExpiry = try Self.checkToken(
                login.token, user: login.user, settings: answer.get(), now: now)
        } catch {
            return refuse(error)
        }
        state = .opening(session)
        return .open(session)
    }

    /// Presence has opened the session, or has not.
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

    /// The client resumes a session.
    package mutating func lineLogin(_ wire: String) -> Action {
        guard case .fresh = state else { return refuseSecond(isResume: true) }
        guard let line = try? Line(wire: wire) else { return end(.closeFrame(.notLoggedIn)) }
        let session = Session(line: line, device: "", push: false)
        state = .resuming(session)
        return .resume(session)
    }

    /// Presence has moved the session here, or has not.
    package mutating func resumed(_ answer: Result<SessionResumed, SignalingError>) -> Action {
        switch (state, answer) {
        case (.resuming(var session), .success(let resumed)):
            session.uid = resumed.uid
            session.push = resumed.push
            session.tokenExpiry = resumed.tokenExpiry
            session.hold = resumed.hold
            resumedTurn = resumed.turn
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

    /// Takes the refusals that were put off until the login or resume was answered.
    package mutating func takeSecond() -> [Action] {
        defer { second = [] }
        return second.map { .refuseSecond(isResume: $0) }
    }

    /// A connection carries one login. Another that arrives meanwhile is refused after the first is answered.
    private mutating func refuseSecond(isResume: Bool) -> Action {
        switch state {
        case .active: return .refuseSecond(isResume: isResume)
        case .authenticating, .opening, .resuming:
            // Several refusals would tell the client no more than one.
            if second.isEmpty { second.append(isResume) }
            return .none
        case .fresh, .loggingOut, .orphaned, .closed: return .none
        }
    }

    /// The client logs out: from here on the end of the connection is the end of the session.
    package mutating func logsOut() {
        if case .active(let session) = state { state = .loggingOut(session) }
    }

    /// The session was taken over or ended elsewhere.
    /// - Parameter ending: how the client learns of it.
    package mutating func superseded(_ ending: Ending) -> Action {
        if case .closed = state { return .none }
        return end(ending)
    }

    /// The connection is gone, or must go for a reason that leaves the session alive.
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

    /// The session's token has expired, and the gateway was told to mind.
    /// - Parameter now: Unix seconds.
    /// - Returns: the session to end; nil while the token is good.
    package func expiredSession(now: Int64) -> Session? {
        guard case .active(let session) = state, session.tokenExpiry != 0, session.tokenExpiry <= now else {
            return nil
        }
        return session
    }

    /// Source: wire protocol, sections 3 and 12.13.
    /// - Returns: when the token expires; 0 without one.
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
