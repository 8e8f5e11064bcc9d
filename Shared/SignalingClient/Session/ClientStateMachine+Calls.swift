internal import SignalingProtocol
internal import SignalingWire

/// Calls and timers.
extension ClientStateMachine {
    /// Ticks while something has a deadline, ms.
    static let busyTick: Int64 = 250
    /// Ticks while a backlog is worked off, ms.
    static let pacedTick: Int64 = 40

    /// Makes a call; it is answered exactly once, by an action.
    mutating func call(
        _ function: String, _ arguments: [JSONMember], now: Int64
    ) -> (id: Int64, actions: [Action]) {
        lastCall += 1
        let id = lastCall
        switch status {
        case .loggedOut, .loggingIn:
            let error = SignalingError(.notLoggedIn, "not_logged_in", "log in before calling functions")
            return (id, [.answer(call: id, .failure(error))])
        case .online, .reconnecting: break
        }
        let call = CallTable.Call(
            id: id, function: function, arguments: arguments, deadline: now + configuration.timing.callTime.milliseconds
        )
        guard calls.count < configuration.callBound else {
            let code: SignalingCode = call.isMessage ? .messageOther : .failed
            let error = SignalingError(code, "queue_full", "\(configuration.callBound) calls wait for answers already")
            return (id, [.answer(call: id, .failure(error))])
        }
        calls.add(call)
        return (id, flush(now: now))
    }

    /// Nobody waits for this call's answer any more.
    mutating func cancel(_ id: Int64, now: Int64) -> [Action] {
        guard calls.remove(id) != nil else { return [] }
        let error = SignalingError(.failed, "cancelled", "cancelled; whether the call took effect is unknown")
        return [.answer(call: id, .failure(error))] + flush(now: now)
    }

    /// Sends what may be sent.
    mutating func flush(now: Int64) -> [Action] {
        guard case .online = state, let session else { return [] }
        return calls.takeSendable(now: now).map {
            .send(ClientRequest.call($0.function, id: $0.id, line: session.line, $0.arguments))
        }
    }

    // MARK: - Time

    /// When to call ``tick(now:)`` at the latest; nil when nothing is due.
    func nextTick(now: Int64) -> Int64? {
        switch state {
        case .idle, .closed: return nil
        case .waiting(let until): return calls.isEmpty ? until : min(until, now + Self.busyTick)
        case .discovering, .connecting, .authenticating, .loggingOut: return now + Self.busyTick
        case .online:
            if calls.isBacklogged { return now + Self.pacedTick }
            return calls.isEmpty && !mailbox.isPending ? nextPing : min(nextPing, now + Self.busyTick)
        }
    }

    /// Time has passed.
    mutating func tick(now: Int64) -> [Action] {
        var actions: [Action] = calls.takeExpired(now: now).map { .answer(call: $0.id, .failure($0.timeout)) }
        let stepTime = configuration.timing.stepTime.milliseconds
        switch state {
        case .idle, .closed: break
        case .waiting(let until):
            if now >= until { actions += beginAttempt(now: now) }
        case .discovering(let since), .connecting(let since), .authenticating(let since):
            if now - since >= stepTime { actions += attemptFailed(now: now) }
        case .loggingOut(let since, _):
            if now - since >= configuration.timing.logoutTime.milliseconds { actions += end(Self.loggedOutByUser) }
        case .online:
            actions += acknowledge(now: now, force: false)
            actions += flush(now: now)
            if now >= nextPing { actions += ping(now: now) }
        }
        return actions
    }

    private mutating func ping(now: Int64) -> [Action] {
        // A pong that is not read proves nothing.
        if isReadingPaused { unanswered = 0 }
        guard unanswered < configuration.timing.missedPongs else { return lost(now: now) }
        unanswered += 1
        pings += 1
        nextPing = now + configuration.timing.pingInterval.milliseconds
        return [.send(ClientRequest.ping(pings))]
    }
}
