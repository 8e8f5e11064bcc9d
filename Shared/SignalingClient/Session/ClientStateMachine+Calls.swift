internal import SignalingProtocol
internal import SignalingWire

/// The app's calls, and timers.
extension ClientStateMachine {
    /// The interval of ticks while a call or a step has a deadline, in ms.
    static let busyTick: Int64 = 250
    /// The interval of ticks while paced messages wait, in ms.
    static let pacedTick: Int64 = 40

    /// Adds a call of a function.
    /// - Parameter ticket: identifies the call in its answer; nil for the client's own calls, whose answers the app
    ///   does not get.
    mutating func call(
        _ function: String, _ arguments: [JSONMember], ticket: Int64?, now: Int64
    ) -> [Action] {
        let deadline = now + configuration.timing.callTime.milliseconds
        let call = CallTable.Call(
            id: calls.nextID(), ticket: ticket, function: function, arguments: arguments, deadline: deadline)
        if let error = refusal(of: call) { return call.answered(.failure(error)).map { [$0] } ?? [] }
        calls.add(call)
        return sendCalls(now: now)
    }

    private func refusal(of call: CallTable.Call) -> SignalingError? {
        switch status {
        case .loggedOut, .loggingIn:
            return SignalingError(.notLoggedIn, .notLoggedIn, "log in before calling functions")
        case .online, .reconnecting: break
        }
        guard calls.count >= configuration.callBound else { return nil }
        let code: SignalingCode = call.isMessage ? .messageOther : .failed
        return SignalingError(code, .queueFull, "\(configuration.callBound) calls already wait for answers")
    }

    mutating func cancelled(ticket: Int64, now: Int64) -> [Action] {
        guard let call = calls.remove(ticket: ticket) else { return [] }
        let error = SignalingError(.failed, .cancelled, "cancelled; whether the call took effect is unknown")
        return (call.answered(.failure(error)).map { [$0] } ?? []) + sendCalls(now: now)
    }

    /// Sends the calls that may be sent now.
    mutating func sendCalls(now: Int64) -> [Action] {
        guard case .online = state, let session = sessionState.session else { return [] }
        return calls.takeSendable(now: now).map {
            .send(ClientRequest.call($0.function, id: $0.id, line: session.line, $0.arguments))
        }
    }

    // MARK: - Time

    /// When the next tick must be reported at the latest; nil when nothing has a deadline.
    func nextTick(now: Int64) -> Int64? {
        switch state {
        case .idle, .closed: return nil
        case .waiting(let until): return calls.isEmpty ? until : min(until, now + Self.busyTick)
        case .discovering, .connecting, .authenticating, .loggingOut: return now + Self.busyTick
        case .online:
            if calls.isBacklogged { return now + Self.pacedTick }
            return calls.isEmpty && !mailbox.isPending ? heartbeat.due : min(heartbeat.due, now + Self.busyTick)
        }
    }

    mutating func tick(now: Int64) -> [Action] {
        var actions = calls.takeExpired(now: now).compactMap { $0.answered(.failure($0.timeout)) }
        let timing = configuration.timing
        switch state {
        case .idle, .closed: break
        case .waiting(let until):
            if now >= until { actions += beginAttempt(now: now) }
        case .discovering(let since), .connecting(let since), .authenticating(let since):
            if now - since >= timing.stepTime.milliseconds { actions += attemptFailed(now: now) }
        case .loggingOut(let since, _):
            if now - since >= timing.logoutTime.milliseconds { actions += end(Self.loggedOutByUser) }
        case .online:
            actions += acknowledge(now: now)
            actions += sendCalls(now: now)
            if now >= heartbeat.due { actions += sendPing(now: now) }
        }
        return actions
    }

    private mutating func sendPing(now: Int64) -> [Action] {
        let number = heartbeat.nextPing(now: now, configuration.timing, isReadingPaused: backlog.isReadingPaused)
        guard let number else { return connectionLost(now: now) }
        return [.send(ClientRequest.ping(number))]
    }
}

extension CallTable.Call {
    /// The action that passes an answer to the app; nil for the client's own calls.
    func answered(_ answer: Result<JSONValue, SignalingError>) -> ClientStateMachine.Action? {
        ticket.map { .answer(ticket: $0, answer) }
    }
}
