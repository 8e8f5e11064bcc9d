internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// Login, resume, and the ends of a session.
extension ClientConnection {
    func perform(_ action: ConnectionStateMachine.Action) {
        switch action {
        case .askApp(let app):
            // The login's own: what it waits for has no more time together.
            actDeadline = .now() + shard.configuration.commandTimeout
            shard.apps.find(app) { [self] settings in
                if case .success(let settings) = settings { limits = settings.limits }
                perform(machine.appAnswered(settings, now: WallClock.milliseconds / 1000, makeLine: shard.makeLine))
            }
        case .open(let session):
            // Bound before presence knows of it: a message to the new session may be published before the answer.
            bind(session.line.session)
            let command = OpenSession(
                gateway: shard.id, line: session.line, device: session.device, push: session.push,
                tokenExpiry: session.tokenExpiry)
            shard.sender.send(command, by: actDeadline) { [self] in
                perform(machine.opened($0))
            }
        case .resume(let session):
            lineText = session.line.wire
            let id = session.line.session
            shard.awaitResume(of: id, on: self)
            shard.apps.find(session.user.app) { [self] settings in
                // The line proves the session; should the app be unknown for the moment, the documents' limits hold.
                if case .success(let settings) = settings { limits = settings.limits }
            }
            let command = ResumeSession(gateway: shard.id, line: session.line)
            shard.sender.send(command, within: shard.configuration.commandTimeout) { [self] in
                perform(machine.resumed($0))
                shard.resumeAnswered(of: id, on: self)
            }
        case .loggedIn(let session):
            GatewayMetrics.logins.increment()
            self.session = ActiveSession(session)
            outlet.bound = shard.configuration.sendBufferBound
            rates = SessionRates(limits)
            place = ChannelPlace()
            lineText = session.line.wire
            send(ServerFrame.loginSucceeded(line: lineText, uid: session.uid, push: session.push))
            startMailbox(session, fresh: true)
            refuseSecond()
        case .resumed(let session, let channel):
            GatewayMetrics.resumes.increment()
            self.session = ActiveSession(session)
            place = ChannelPlace(turn: machine.resumedTurn, channel: channel)
            outlet.bound = shard.configuration.sendBufferBound
            // First of all, as an older connection here hands its rates over.
            bind(session.line.session)
            rates = shard.takeRates(of: session.line.session, limits)
            if shard.configuration.enforcesTokenExpiry, enforceTokenExpiry() { return }
            if let channel {
                rejoin(ChannelKey(app: session.user.app, name: channel), session: session)
            } else {
                finishResume(session, channel: nil, complete: true)
            }
        case .refuse(let error):
            GatewayMetrics.loginFailures.increment()
            if error.isOfTheLogin { shard.door.loginFailed(doorKey) }
            unbind()
            send(ServerFrame.loginFailed(error))
            close(.normalClosure)
        case .refuseOpened(let error, let session):
            perform(.refuse(error))
            shard.detach(session.line.session, of: session.user)
        case .refuseResumed(let code, let session):
            end(.closeFrame(code))
            // Asked for, and perhaps done all the same.
            if code == .failed { shard.detach(session.line.session, of: session.user) }
        case .refuseSecond(let isResume):
            let error = SignalingError(.alreadyLoggedIn, "already_logged_in", "this connection has a session")
            send(isResume ? ServerFrame.lineLoginFailed(error) : ServerFrame.loginFailed(error))
        case .end(let ending):
            end(ending)
        case .detach(let session):
            unbind()
            shard.detach(session.line.session, of: session.user)
        case .none:
            break
        }
    }

    /// Writes the answer to `line_login`; what the client sent meanwhile follows.
    func finishResume(_ session: ConnectionStateMachine.Session, channel: ChannelName?, complete: Bool) {
        send(
            ServerFrame.lineLoginSucceeded(
                line: lineText, uid: session.uid, push: session.push, channel: channel, complete: complete))
        startMailbox(session, fresh: false)
        refuseSecond()
        calls.release()
        startWaiting()
    }

    /// The connection ends: a resumed session goes on with the same rates.
    func keepRates() {
        if let session { shard.keep(rates, of: session.actor.session) }
    }

    /// Refuses the logins that came while the first was under way.
    private func refuseSecond() {
        for action in machine.takeSecond() { perform(action) }
    }

    func bind(_ session: SessionID) {
        boundSession = session
        shard.bind(session, to: self)
    }

    func unbind() {
        if let session = boundSession { shard.unbind(session, from: self) }
    }

    /// Ends the session when its token has expired. Source: Signaling API, LOGOUT_E_TOKENEXPIRED.
    /// - Returns: whether it has.
    @discardableResult
    func enforceTokenExpiry() -> Bool {
        guard machine.expiredSession(now: WallClock.milliseconds / 1000) != nil else { return false }
        endSession(.logoutTokenExpired)
        return true
    }

    /// Ends the session for good, and tells the client why.
    func endSession(_ code: SignalingCode) {
        guard let session = machine.activeSession else { return }
        let id = session.line.session
        let command = CloseSession(user: session.user, session: id, reason: .leaveOther)
        shard.sender.send(command, within: shard.configuration.commandTimeout) { [shard] result in
            // Not ended yet: without a connection its time runs out.
            if case .failure = result { shard.detach(id, of: session.user) }
        }
        superseded(.closeFrame(code))
    }

    private func end(_ ending: ConnectionStateMachine.Ending) {
        unbind()
        switch ending {
        case .closeFrame(let code): send(ServerFrame.close(code))
        case .silent: break
        }
        close(.normalClosure)
    }
}

extension SignalingError {
    /// Whether a login failed for what the client said, not for the state of the cluster.
    fileprivate var isOfTheLogin: Bool {
        switch code {
        case .loginTokenWrong, .loginTokenExpired, .invalidUser: true
        case .loginRejected: reason == "unknown_app"
        default: false
        }
    }
}
