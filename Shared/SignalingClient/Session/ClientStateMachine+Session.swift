internal import SignalingProtocol
internal import SignalingWire

/// The session: login, resume, replacement of a session that the cluster has lost, and the end.
extension ClientStateMachine {
    static let loggedOutByUser = SignalingError(.logoutUser, .logout, "logged out by the user")

    /// Every session outlives a lost connection for at least this long, in ms: if a resume is refused earlier, the
    /// cluster has lost the session.
    private static let shortestTimeout: Int64 = 1000 * Int64(Limits.connectionTimeout.lowerBound)

    mutating func loginAnswered(
        _ answer: Result<ServerMessage.SessionAnswer, SignalingError>, now: Int64
    ) -> [Action] {
        guard case .authenticating = state, sessionState.session == nil else { return [] }
        switch answer {
        case .success(let opened):
            let events = sessionState == .lost ? replaced(now: now) : [.event(.loggedIn(uid: opened.uid))]
            return events + goOnline(opened, now: now)
        case .failure(let error) where error.code == .failed:
            // The cluster could not decide, for example because Redis is down; another attempt may succeed.
            search.lastRefusal = error
            return attemptFailed(now: now)
        case .failure(let error) where sessionState == .lost:
            let code: SignalingCode = error.code == .loginTokenExpired ? .logoutTokenExpired : .logoutNetwork
            return end(SignalingError(code, error.reason, error.message))
        case .failure(let error):
            return end(error)
        }
    }

    /// Called when a new session has replaced the lost one. Channel events published meanwhile are lost, and the user
    /// is in no channel.
    private mutating func replaced(now: Int64) -> [Action] {
        calls.connectionRestored(now: now)
        return [.event(.reconnected(complete: false))] + channelLost(membership.left())
    }

    mutating func resumed(_ answer: ServerMessage.SessionAnswer, now: Int64) -> [Action] {
        guard case .authenticating = state, sessionState.session != nil else { return [] }
        calls.connectionRestored(now: now)
        let (complete, lost) = membership.resumed(in: answer.channel, complete: answer.complete)
        return [.event(.reconnected(complete: complete))] + channelLost(lost) + goOnline(answer, now: now)
    }

    private func channelLost(_ channel: String?) -> [Action] {
        channel.map { [.event(.channelLeft(channel: $0, code: .leaveDisconnected))] } ?? []
    }

    /// Called when the session is established: waiting calls are sent.
    private mutating func goOnline(_ answer: ServerMessage.SessionAnswer, now: Int64) -> [Action] {
        sessionState = .held(SessionState.Session(answer))
        state = .online
        search.begin(now: now)
        search.lastRefusal = nil
        heartbeat.start(now: now, configuration.timing)
        return (answer.push ? [] : pollMailbox()) + sendCalls(now: now)
    }

    /// Handles a `close` frame, whose reason is a word or a code. Source: `Docs/protocol.md`, `close`.
    mutating func closedByGateway(_ word: String, now: Int64) -> [Action] {
        if case .loggingOut = state { return end(Self.loggedOutByUser) }
        let code = Int(word).flatMap(SignalingCode.init(rawValue:))
        let reason = SignalingReason(rawValue: word)
        guard sessionState.session != nil else {
            return end(SignalingError(reason == .kick ? .loginKicked : code ?? .loginOther, reason, "refused: \(word)"))
        }
        if code == .failed, case .authenticating = state { return attemptFailed(now: now) }
        if code == .logoutNetwork { return logInAgain(now: now) }
        switch reason {
        case .kick: return end(SignalingError(.logoutKicked, reason, "logged in elsewhere"))
        case .tokenExpired: return end(SignalingError(.logoutTokenExpired, reason, "the token has expired"))
        case .badLine:
            if now - search.since < Self.shortestTimeout { return logInAgain(now: now) }
            return end(SignalingError(.logoutNetwork, reason, "the session expired while the connection was lost"))
        default: return end(SignalingError(code ?? .logoutOther, reason, "closed by the gateway"))
        }
    }

    /// Logs in again, because the cluster has lost the session. The new session is in no channel.
    private mutating func logInAgain(now: Int64) -> [Action] {
        let interrupted = SignalingError(.failed, .interrupted, "the session was lost before the answer")
        let givenUp = calls.sessionLost().compactMap { $0.answered(.failure(interrupted)) }
        sessionState = .lost
        return givenUp + connectionLost(now: now)
    }

    // MARK: - The end

    mutating func logOut(now: Int64) -> [Action] {
        switch state {
        case .idle, .closed, .loggingOut: return []
        case .online:
            guard let session = sessionState.session else { return end(Self.loggedOutByUser) }
            let acknowledgement = mailbox.isPending ? pollMailbox() : []
            let id = calls.nextID()
            state = .loggingOut(since: now, call: id)
            return acknowledgement + [.send(ClientRequest.call("user_logout", id: id, line: session.line, []))]
        case .discovering, .waiting, .connecting, .authenticating:
            if sessionState != .none { return end(Self.loggedOutByUser) }
            return end(SignalingError(.loginCancelled, .cancelled, "logged out while logging in"))
        }
    }

    mutating func abandon() -> [Action] {
        if case .closed = state { return [] }
        return end(SignalingError(.logoutOther, .closed, "the client was closed"))
    }

    /// Ends the client: unanswered calls fail, and the app is told the reason.
    mutating func end(_ error: SignalingError) -> [Action] {
        let over = SignalingError(.notLoggedIn, .loggedOut, "the session is over")
        let last = sessionState == .none ? SignalingEvent.loginFailed(error) : .loggedOut(error)
        state = .closed
        sessionState = .none
        search.abandonAttempt()
        return [.disconnect] + calls.takeAll().compactMap { $0.answered(.failure(over)) } + [.event(last)]
    }
}
