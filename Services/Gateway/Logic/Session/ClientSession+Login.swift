internal import SignalingProtocol
internal import SignalingWire

/// Login, resume, and the ends of a session.
extension ClientSession {
    mutating func logIn(_ request: LoginRequest, isAllowed: Bool, _ actions: inout SessionActions) {
        guard !isOver else { return }
        guard isAllowed else { return refuseLogin(&actions) }
        let action = login.login(
            app: request.app, account: request.account, token: request.token, device: request.device,
            push: request.push)
        take(action, &actions)
    }

    /// Too many logins of the client's address have failed.
    private mutating func refuseLogin(_ actions: inout SessionActions) {
        guard login.isFresh else { return }
        actions.append(.count(.loginLimited))
        let error = SignalingError(.loginOther, .rateLimited, "too many logins of this address have failed")
        send(ServerFrame.loginFailed(error), &actions)
        lose(.normal, &actions)
    }

    mutating func resume(_ request: LineLoginRequest, _ actions: inout SessionActions) {
        if login.isFresh {
            resumeAfter = request.after
            let isPaused = calls.isPaused
            calls = CallPipeline(held: true)
            calls.isPaused = isPaused
        }
        take(login.lineLogin(request.line), &actions)
    }

    /// Performs what the login's machine decides.
    mutating func take(_ action: ConnectionStateMachine.Action, _ actions: inout SessionActions) {
        switch action {
        case .askApp(let app): actions.append(.askApp(app))
        case .open(let session):
            // Bound before presence knows of it: a message to the new session may be published before the answer.
            bind(session.line.session, &actions)
            actions.append(.open(session))
        case .resume(let session):
            lineText = session.line.wire
            actions.append(.resume(session))
        case .refuse(let error): refuse(error, &actions)
        case .refuseOpened(let error, let session):
            refuse(error, &actions)
            actions.append(.detach(session.line.session, session.user))
        case .refuseResumed(let code, let session):
            end(.closeFrame(code), &actions)
            // Asked for, and perhaps done all the same.
            if code == .failed { actions.append(.detach(session.line.session, session.user)) }
        case .refuseSecond(let isResume):
            let error = SignalingError(.alreadyLoggedIn, .alreadyLoggedIn, "this connection has a session")
            send(isResume ? ServerFrame.lineLoginFailed(error) : ServerFrame.loginFailed(error), &actions)
        case .end(let ending): end(ending, &actions)
        case .detach(let session): detach(session, &actions)
        case .loggedIn(let session): loggedIn(session, &actions)
        case .resumed(let session, let channel): resumed(session, in: channel, &actions)
        case .none: break
        }
    }

    private mutating func resumed(
        _ session: ConnectionStateMachine.Session, in channel: ChannelName?, _ actions: inout SessionActions
    ) {
        actions.append(.count(.resume))
        becomes(ActiveSession(session))
        place = ChannelPlace(turn: login.resumedTurn, channel: channel)
        actions.append(.raiseOutputBound)
        // First of all, as an older connection here hands its rates over.
        bind(session.line.session, &actions)
        actions.append(.takeRates(session.line.session))
    }

    private mutating func loggedIn(_ session: ConnectionStateMachine.Session, _ actions: inout SessionActions) {
        actions.append(.count(.login))
        becomes(ActiveSession(session))
        actions.append(.raiseOutputBound)
        rates = SessionRates(limits)
        place = ChannelPlace()
        lineText = session.line.wire
        send(ServerFrame.loginSucceeded(line: lineText, uid: session.uid, push: session.push), &actions)
        startMailbox(session, fresh: true, &actions)
        refuseSecond(&actions)
    }

    /// The session is here: goes on in its channel, if it has one, and answers.
    mutating func goOnResuming(
        _ left: SessionRates?, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        guard let session = login.activeSession, !isOver else { return }
        let limits = limits
        rates = left ?? SessionRates(limits, isResumed: true)
        rates.adopt(limits)
        if environment.enforcesTokenExpiry, endIfExpired(environment, &actions) { return }
        guard let name = place.held.channel else {
            return finishResume(channel: nil, complete: true, &actions)
        }
        change = .resuming
        actions.append(.subscribe(ChannelKey(app: session.user.app, name: name)))
    }

    /// Writes the answer to `line_login`; what the client sent meanwhile follows.
    mutating func finishResume(channel: ChannelName?, complete: Bool, _ actions: inout SessionActions) {
        guard let session = login.activeSession else { return }
        send(
            ServerFrame.lineLoginSucceeded(
                line: lineText, uid: session.uid, push: session.push, channel: channel, complete: complete), &actions)
        startMailbox(session, fresh: false, &actions)
        refuseSecond(&actions)
        calls.release()
        regulateReading(&actions)
        if canGoOn { actions.append(.goOn) }
    }

    /// Refuses the logins that came while the first was under way.
    private mutating func refuseSecond(_ actions: inout SessionActions) {
        for action in login.takeSecond() { take(action, &actions) }
    }

    private mutating func bind(_ session: SessionID, _ actions: inout SessionActions) {
        boundSession = session
        actions.append(.bind(session))
    }

    private mutating func refuse(_ error: SignalingError, _ actions: inout SessionActions) {
        actions.append(.count(.loginFailure(isOfTheLogin: error.isOfTheLogin)))
        send(ServerFrame.loginFailed(error), &actions)
        finish(.normal, &actions)
    }

    // MARK: - Ends

    mutating func superseded(_ ending: ConnectionStateMachine.Ending, _ actions: inout SessionActions) {
        // The session turns out to have ended by the logout that is under way.
        if ending == .closeFrame(.logoutUser), let turn = logout { return loggedOut(turn, nil, &actions) }
        take(login.superseded(ending), &actions)
    }

    /// Answers first, then closes: one client closes by itself, the other does not.
    mutating func loggedOut(_ turn: CallTurn, _ error: SignalingError?, _ actions: inout SessionActions) {
        guard logout == turn else { return }
        logout = nil
        if let error { return answered(turn, .failure(error), &actions) }
        login.logsOut()
        answered(turn, .success(.done), &actions)
        finish(.normal, &actions)
    }

    /// Ends the session when its token has expired. Source: Signaling API, LOGOUT_E_TOKENEXPIRED.
    /// - Returns: whether it has.
    @discardableResult
    mutating func endIfExpired(_ environment: any SessionEnvironment, _ actions: inout SessionActions) -> Bool {
        guard login.expiredSession(now: environment.unixTime) != nil else { return false }
        endSession(.logoutTokenExpired, &actions)
        return true
    }

    /// Ends the session for good, and tells the client why.
    mutating func endSession(_ code: SignalingCode, _ actions: inout SessionActions) {
        guard let session = login.activeSession else { return }
        actions.append(.endSession(session.line.session, session.user))
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
    /// Whether a login failed for what the client said, not for the state of the cluster.
    fileprivate var isOfTheLogin: Bool {
        code == .loginTokenWrong || code == .loginTokenExpired || code == .invalidUser
            || (code == .loginRejected && reason == .unknownApp)
    }
}
