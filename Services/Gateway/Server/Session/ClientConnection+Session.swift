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
    func perform(_ action: ConnectionStateMachine.Action, on shard: isolated GatewayShard) {
        switch action {
        case .askApp(let app):
            // The login's own: what it waits for has no more time together.
            actDeadline = .now() + shard.configuration.commandTimeout
            shard.apps.find(app) { [self] settings in
                if case .success(let settings) = settings { limits = settings.limits }
                perform(
                    machine.appAnswered(settings, now: WallClock.milliseconds / 1000, makeLine: { shard.makeLine($0) }),
                    on: shard)
            }
        case .open(let session):
            // Bound before presence knows of it: a message to the new session may be published before the answer.
            bind(session.line.session, on: shard)
            let command = OpenSession(
                gateway: shard.id, line: session.line, device: session.device, push: session.push,
                tokenExpiry: session.tokenExpiry)
            shard.sender.send(command, by: actDeadline) { [self] in
                perform(machine.opened($0), on: shard)
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
                perform(machine.resumed($0), on: shard)
                shard.resumeAnswered(of: id, on: self)
            }
        case .loggedIn(let session):
            GatewayMetrics.logins.increment()
            self.session = ActiveSession(session)
            outlet.bound = shard.configuration.sendBufferBound
            rates = SessionRates(limits)
            place = ChannelPlace()
            lineText = session.line.wire
            send(ServerFrame.loginSucceeded(line: lineText, uid: session.uid, push: session.push), on: shard)
            startMailbox(session, fresh: true, on: shard)
            refuseSecond(on: shard)
        case .resumed(let session, let channel):
            GatewayMetrics.resumes.increment()
            self.session = ActiveSession(session)
            place = ChannelPlace(turn: machine.resumedTurn, channel: channel)
            outlet.bound = shard.configuration.sendBufferBound
            // First of all, as an older connection here hands its rates over.
            bind(session.line.session, on: shard)
            rates = shard.takeRates(of: session.line.session, limits)
            if shard.configuration.enforcesTokenExpiry, enforceTokenExpiry(on: shard) { return }
            if let channel {
                rejoin(ChannelKey(app: session.user.app, name: channel), session: session, on: shard)
            } else {
                finishResume(session, channel: nil, complete: true, on: shard)
            }
        case .refuse(let error):
            GatewayMetrics.loginFailures.increment()
            if error.isOfTheLogin { shard.door.loginFailed(doorKey) }
            unbind(on: shard)
            send(ServerFrame.loginFailed(error), on: shard)
            close(.normalClosure, on: shard)
        case .refuseOpened(let error, let session):
            perform(.refuse(error), on: shard)
            shard.detach(session.line.session, of: session.user)
        case .refuseResumed(let code, let session):
            end(.closeFrame(code), on: shard)
            // Asked for, and perhaps done all the same.
            if code == .failed { shard.detach(session.line.session, of: session.user) }
        case .refuseSecond(let isResume):
            let error = SignalingError(.alreadyLoggedIn, "already_logged_in", "this connection has a session")
            send(isResume ? ServerFrame.lineLoginFailed(error) : ServerFrame.loginFailed(error), on: shard)
        case .end(let ending):
            end(ending, on: shard)
        case .detach(let session):
            unbind(on: shard)
            shard.detach(session.line.session, of: session.user)
        case .none:
            break
        }
    }

    /// Writes the answer to `line_login`; what the client sent meanwhile follows.
    func finishResume(
        _ session: ConnectionStateMachine.Session, channel: ChannelName?, complete: Bool,
        on shard: isolated GatewayShard
    ) {
        send(
            ServerFrame.lineLoginSucceeded(
                line: lineText, uid: session.uid, push: session.push, channel: channel, complete: complete), on: shard)
        startMailbox(session, fresh: false, on: shard)
        refuseSecond(on: shard)
        calls.release()
        startWaiting(on: shard)
    }

    /// The connection ends: a resumed session goes on with the same rates.
    func keepRates(on shard: isolated GatewayShard) {
        if let session { shard.keep(rates, of: session.actor.session) }
    }

    /// Refuses the logins that came while the first was under way.
    private func refuseSecond(on shard: isolated GatewayShard) {
        for action in machine.takeSecond() { perform(action, on: shard) }
    }

    func bind(_ session: SessionID, on shard: isolated GatewayShard) {
        boundSession = session
        shard.bind(session, to: self)
    }

    func unbind(on shard: isolated GatewayShard) {
        if let session = boundSession { shard.unbind(session, from: self) }
    }

    /// Ends the session when its token has expired. Source: Signaling API, LOGOUT_E_TOKENEXPIRED.
    /// - Returns: whether it has.
    @discardableResult
    func enforceTokenExpiry(on shard: isolated GatewayShard) -> Bool {
        guard machine.expiredSession(now: WallClock.milliseconds / 1000) != nil else { return false }
        endSession(.logoutTokenExpired, on: shard)
        return true
    }

    /// Ends the session for good, and tells the client why.
    func endSession(_ code: SignalingCode, on shard: isolated GatewayShard) {
        guard let session = machine.activeSession else { return }
        let id = session.line.session
        let command = CloseSession(user: session.user, session: id, reason: .leaveOther)
        shard.sender.send(command, within: shard.configuration.commandTimeout) { result in
            // Not ended yet: without a connection its time runs out.
            if case .failure = result { shard.detach(id, of: session.user) }
        }
        superseded(.closeFrame(code), on: shard)
    }

    private func end(_ ending: ConnectionStateMachine.Ending, on shard: isolated GatewayShard) {
        unbind(on: shard)
        switch ending {
        case .closeFrame(let code): send(ServerFrame.close(code), on: shard)
        case .silent: break
        }
        close(.normalClosure, on: shard)
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
