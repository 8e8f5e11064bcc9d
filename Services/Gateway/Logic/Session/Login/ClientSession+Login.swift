internal import SignalingProtocol
internal import SignalingWire

/// Login, resume, and the end of a session.
extension ClientSession {
    mutating func logIn(_ request: LoginRequest, isAllowed: Bool, _ actions: inout SessionActions) {
        guard !isOver else { return }
        guard isAllowed else { return refuseLogin(&actions) }
        let action = login.login(
            app: request.app, account: request.account, token: request.token, device: request.device,
            push: request.push)
        take(action, &actions)
    }

    /// Refuses a login because too many logins from the client's address have failed.
    private mutating func refuseLogin(_ actions: inout SessionActions) {
        guard login.isFresh else { return }
        actions.append(.count(.loginLimited))
        let error = SignalingError(.loginOther, .rateLimited, "too many failed logins from this address")
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

    /// Translates an action of the login's state machine.
    mutating func take(_ action: ConnectionStateMachine.Action, _ actions: inout SessionActions) {
        switch action {
        case .askApp(let app): actions.append(.askApp(app))
        case .open(let session):
            // Bound before presence knows the session, because a message to it may be published before the reply
            // arrives.
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
            // Presence may have moved the session here although the reply is an error.
            if code == .failed { actions.append(.detach(session.line.session, session.user)) }
        case .refuseSecond(let isResume):
            let error = SignalingError(.alreadyLoggedIn, .alreadyLoggedIn, "this connection is already logged in")
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
        place = ChannelPlace(moveNumber: login.resumedMoveNumber, channel: channel)
        actions.append(.raiseOutputBound)
        // Bound first, because an older connection of the session at this gateway then hands over its rates.
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

    /// Continues after presence has moved the session here: in its channel, if it has one, or else with the answer.
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

    /// Writes the answer to `line_login`, and then starts the calls that arrived meanwhile.
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

    /// Refuses the logins that arrived while the first one was in progress.
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
        // The session has ended through the logout that is in progress.
        if ending == .closeFrame(.logoutUser), let turn = logout { return loggedOut(turn, nil, &actions) }
        take(login.superseded(ending), &actions)
    }

    /// Answers first, then closes, because only some clients close the connection themselves.
    mutating func loggedOut(_ turn: CallTurn, _ error: SignalingError?, _ actions: inout SessionActions) {
        guard logout == turn else { return }
        logout = nil
        if let error { return answered(turn, .failure(error), &actions) }
        login.logsOut()
        answered(turn, .success(.done), &actions)
        finish(.normal, &actions)
    }

    /// Ends the session if its token has expired. Source: Signaling API, LOGOUT_E_TOKENEXPIRED.
    /// - Returns: whether it has ended.
    @discardableResult
    mutating func endIfExpired(_ environment: any SessionEnvironment, _ actions: inout SessionActions) -> Bool {
        guard login.expiredSession(now: environment.unixTime) != nil else { return false }
        endSession(.logoutTokenExpired, &actions)
        return true
    }

    /// Ends the session for good and tells the client the reason.
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
    /// Whether a login failed because of what the client sent, not because of the cluster's state.
    fileprivate var isOfTheLogin: Bool {
        code == .loginTokenWrong || code == .loginTokenExpired || code == .invalidUser
            || (code == .loginRejected && reason == .unknownApp)
    }
}
