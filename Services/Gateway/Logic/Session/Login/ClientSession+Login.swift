internal import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// Login, resume, and the end of a session.
extension ClientSession {
    mutating func handle(
        _ event: SessionEvent.Session, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        switch event {
        case .appAnswered(let answer, let session, let secret):
            if case .success(let settings) = answer {
                rates.adopt(settings.limits)
                adopt(settings.hook?.points ?? HookPoints())
            }
            take(login.appAnswered(answer, session: session, secret: secret, now: environment.unixTime), &actions)
        case .limits(let limits): rates.adopt(limits)
        case .hooks(let points): adopt(points)
        case .app(let app): login.share(app)
        case .opened(let answer): take(login.opened(answer), &actions)
        case .resumed(let answer): take(login.resumed(answer), &actions)
        case .ratesTaken(let left): goOnResuming(left, environment, &actions)
        case .loggedOut(let ticket, let error): loggedOut(ticket, error, &actions)
        case .superseded(let ending): superseded(ending, &actions)
        case .end(let code): endSession(code, &actions)
        case .tokenCheck: endIfExpired(environment, &actions)
        }
    }

    mutating func logIn(_ request: LoginRequest, isAllowed: Bool, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        guard isAllowed else { return refuseLogin(&actions) }
        let action = login.login(
            app: request.app, account: request.account, token: request.token, device: request.device,
            push: request.push)
        take(action, &actions)
    }

    /// Refuses a login because too many logins and resumes from the client's address have failed.
    private mutating func refuseLogin(_ actions: inout SessionActions) {
        guard login.isFresh else { return }
        actions.append(.count(.loginLimited))
        let error = SignalingError(.loginOther, .rateLimited, "too many failed logins from this address")
        send(ServerFrame.loginFailed(error), &actions)
        lose(.normal, &actions)
    }

    /// - Parameter isAllowed: false when too many logins and resumes from the client's address have
    ///   failed. The connection is then closed as if the gateway had dropped it, because the line may be
    ///   good: the client tries again later.
    mutating func resume(_ request: LineLoginRequest, isAllowed: Bool, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        if !isAllowed, login.isFresh {
            actions.append(.count(.loginLimited))
            return lose(.goingAway, &actions)
        }
        if login.isFresh { calls.hold() }
        take(login.lineLogin(request.line, after: request.after), &actions)
    }

    /// Translates an action of the login's state machine.
    mutating func take(_ action: ConnectionStateMachine.Action, _ actions: inout SessionActions) {
        switch action {
        case .askApp(let app): actions.append(.request(.askApp(app)))
        case .askHook(let question): actions.append(.request(.askHook(question)))
        case .open(let session):
            // Bound before presence knows the session, because a message to it may be published before the reply
            // arrives.
            actions.append(.session(.bind(session.line.session)))
            actions.append(.request(.open(session)))
        case .resume(let session):
            // Calls may follow at once; they wait for the reply.
            actions.append(.raisePace)
            actions.append(.request(.resume(session)))
        case .refuse(let error): refuse(error, &actions)
        case .refuseOpened(let error, let session):
            refuse(error, &actions)
            guard error.reason != .overloaded else { return }
            actions.append(.session(.detachDoubtful(session.line.session, session.user)))
        case .refuseResumed(let error, let session):
            end(.closeFrame(error.code), &actions)
            noteRefusedResume(of: session, error, &actions)
        case .noteRefusedResume(let error, let session): noteRefusedResume(of: session, error, &actions)
        case .refuseSecond(let isResume):
            let error = SignalingError(.alreadyLoggedIn, .alreadyLoggedIn, "this connection is already logged in")
            send(isResume ? ServerFrame.lineLoginFailed(error) : ServerFrame.loginFailed(error), &actions)
        case .end(let ending): end(ending, &actions)
        case .detach(let session): detach(session, &actions)
        case .detachDoubtful(let session): actions.append(.session(.detachDoubtful(session.line.session, session.user)))
        case .loggedIn(let active, let mail): loggedIn(active, mail, &actions)
        case .resumed(let active, let place, let after, let mail):
            resumed(active, at: place, .resuming(Resumption(after: after, mail: mail)), &actions)
        case .none: break
        }
    }

    private mutating func resumed(
        _ active: ActiveSession, at place: ChannelPlace, _ resuming: ChannelChange, _ actions: inout SessionActions
    ) {
        actions.append(.count(.resume))
        let removal = channel.removal
        channel = SessionChannel(place, resuming)
        channel.removal = removal
        actions.append(.raiseOutputBound)
        // Bound first, because an older connection of the session at this gateway then hands over its rates.
        actions.append(.session(.bind(active.id)))
        actions.append(.session(.takeRates(active.id)))
    }

    private mutating func loggedIn(_ active: ActiveSession, _ mail: EmptyMailbox?, _ actions: inout SessionActions) {
        let (session, line) = (active.session, active.session.line.wire)
        actions.append(.count(.login))
        actions.append(.raiseOutputBound)
        actions.append(.raisePace)
        send(ServerFrame.loginSucceeded(line: line, uid: session.uid, push: session.push), &actions)
        startMailbox(of: active, fresh: true, empty: mail, &actions)
        take(login.takeSecond(), &actions)
    }

    /// Continues after presence has moved the session here: in its channel, if it has one, or else with the answer.
    mutating func goOnResuming(
        _ left: SessionRates?, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        guard let active = login.active, case .resuming(let resumption) = channel.change else { return }
        rates.resume(left)
        if environment.enforcesTokenExpiry, endIfExpired(environment, &actions) { return }
        guard let name = channel.place.held.channel else {
            channel.change = .none
            return finishResume(of: active, in: nil, complete: true, resumption.mail, &actions)
        }
        actions.append(.request(.subscribe(ChannelKey(app: active.user.app, name: name))))
    }

    /// Writes the answer to `line_login`, and then starts the calls that arrived meanwhile.
    /// - Parameters:
    ///   - name: the channel that the session is in; nil for none.
    ///   - complete: whether the client gets all events of the channel that it has missed.
    ///   - mail: the mailbox, when nothing waited in it.
    mutating func finishResume(
        of active: ActiveSession, in name: ChannelName?, complete: Bool, _ mail: EmptyMailbox?,
        _ actions: inout SessionActions
    ) {
        let session = active.session
        send(
            ServerFrame.lineLoginSucceeded(
                line: session.line.wire, uid: session.uid, push: session.push, channel: name, complete: complete),
            &actions)
        startMailbox(of: active, fresh: false, empty: mail, &actions)
        take(login.takeSecond(), &actions)
        calls.release()
        regulateReading(&actions)
    }

    /// Counts a refused resume. Presence may have moved the session here although the reply is an error.
    private func noteRefusedResume(
        of session: ConnectionStateMachine.Session, _ error: SignalingError, _ actions: inout SessionActions
    ) {
        actions.append(.count(.loginFailure(isOfTheLogin: error.reason == .badLine)))
        guard error.code == .failed, error.reason != .overloaded, error.reason != .memoryFull else { return }
        actions.append(.session(.detachDoubtful(session.line.session, session.user)))
    }

    private mutating func refuse(_ error: SignalingError, _ actions: inout SessionActions) {
        actions.append(.count(.loginFailure(isOfTheLogin: error.isOfTheLogin)))
        send(ServerFrame.loginFailed(error), &actions)
        finish(.normal, &actions)
    }

    // MARK: - Ends

    mutating func superseded(_ ending: ConnectionStateMachine.Ending, _ actions: inout SessionActions) {
        // The session has ended through the logout that is in progress.
        if ending == .closeFrame(.logoutUser), let ticket = login.logout { return loggedOut(ticket, nil, &actions) }
        take(login.superseded(ending), &actions)
    }

    /// Answers first, then closes, because only some clients close the connection themselves.
    mutating func loggedOut(_ ticket: CallTicket, _ error: SignalingError?, _ actions: inout SessionActions) {
        guard login.logout == ticket else { return }
        login.loggedOut(isOver: error == nil)
        if let error { return answered(ticket, .failure(error), &actions) }
        answered(ticket, .success(.done), &actions)
        finish(.normal, &actions)
    }

    /// Ends the session if its token has expired. Source: Signaling API, LOGOUT_E_TOKENEXPIRED.
    /// - Returns: whether it has ended.
    @discardableResult
    mutating func endIfExpired(_ environment: any SessionEnvironment, _ actions: inout SessionActions) -> Bool {
        guard login.hasExpired(now: environment.unixTime) else { return false }
        endSession(.logoutTokenExpired, &actions)
        return true
    }

    /// Ends the session for good and tells the client the reason; a connection that is not logged in goes on.
    mutating func endSession(_ code: SignalingCode, _ actions: inout SessionActions) {
        guard let active = login.active else { return }
        actions.append(.request(.endSession(active.id, active.user)))
        superseded(.closeFrame(code), &actions)
    }

    private mutating func end(_ ending: ConnectionStateMachine.Ending, _ actions: inout SessionActions) {
        switch ending {
        case .closeFrame(let code): send(ServerFrame.close(code), &actions)
        case .silent: break
        }
        finish(.normal, &actions)
    }
}

extension SignalingError {
    /// Whether a login failed because of what the client sent, not because of the cluster's state.
    fileprivate var isOfTheLogin: Bool {
        code == .loginTokenWrong || code == .loginTokenExpired || code == .invalidUser
            || (code == .loginRejected && reason == .unknownApp) || reason == .denied
    }
}
