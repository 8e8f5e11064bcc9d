internal import BusProtocol
internal import Pacing
internal import SignalingProtocol
internal import SignalingWire

/// The functions of `call2`, answered in the order of the calls.
extension ClientSession {
    /// Starts a call, or queues it.
    mutating func received(
        _ request: CallRequest, bytes: Int, at time: LocalTime, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        guard !login.isOver else { return }
        guard login.takesCalls else {
            let error = SignalingError(.notLoggedIn, .notLoggedIn, "log in before calling functions")
            return send(ServerFrame.callFailed(id: request.id, error), &actions)
        }
        var call = request.call
        if case .success(let asked) = request.call, let error = refusal(of: asked.act, at: time, &actions) {
            call = .failure(error)
        }
        let ticket = CallTicket(id: request.id, ordering: call.ordering, arrivedAt: time)
        var queued = QueuedCall(ticket: ticket, call: call, bytes: bytes)
        switch calls.enter(&queued) {
        case .start: start(queued, isNew: true, environment, &actions)
        case .wait: regulateReading(&actions)
        case .full:
            actions.append(.count(.tooManyCalls))
            lose(.tooMuch, &actions)
        }
    }

    /// Counts the call against the rate limits when it arrives, not when its turn comes.
    private mutating func refusal(
        of act: ClientCall.Act, at time: LocalTime, _ actions: inout SessionActions
    ) -> SignalingError? {
        guard let refusal = rates.refusal(of: act, now: time) else { return nil }
        actions.append(.count(act.isMessage ? .messageLimited : .actLimited))
        return refusal
    }

    /// - Parameter isNew: whether the call has just arrived, so that the clock need not be read.
    mutating func start(
        _ queued: QueuedCall, isNew: Bool, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        guard let active = login.active else {
            return answerExcluded(queued.ticket, "a call was started without a session", &actions)
        }
        switch queued.call {
        case .failure(let error):
            answered(queued.ticket, .failure(error), &actions)
        case .success(let call):
            guard call.isOnItsLine else {
                let error = SignalingError(.notLoggedIn, .badLine, "the line is not that of this connection's session")
                return answered(queued.ticket, .failure(error), &actions)
            }
            guard isNew || environment.localTime < queued.ticket.arrivedAt + environment.callTimeout else {
                actions.append(.count(.overdue))
                return answered(queued.ticket, .failure(.timeout(call.act.traits.timeout)), &actions)
            }
            perform(call, queued.ticket, active, environment, &actions)
        }
    }

    private mutating func perform(
        _ call: ClientCall, _ ticket: CallTicket, _ active: ActiveSession, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        switch call.act {
        case .message(let message): send(message, call, ticket, active, &actions)
        case .service(let act): ask(act, call, ticket, active, &actions)
        case .session(.pollMailbox(let verClear, let limit)):
            startPoll(MailboxPoll(ticket: ticket, verClear: verClear, limit: limit), environment, &actions)
        case .session(.logOut):
            login.logsOut(ticket)
            actions.append(.request(.logOut(active, ticket)))
        case .session(.join(let name)): askToJoin(name, StartedCall(call, ticket, by: active), &actions)
        case .session(.leave(let name)): leave(name, ticket, active, &actions)
        }
    }

    /// Sends a message, or asks the app's server first.
    private mutating func send(
        _ message: ClientCall.MessageAct, _ call: ClientCall, _ ticket: CallTicket, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        let bounds: CallBounds
        switch message {
        case .toUser: bounds = CallBounds(mailbox: rates.limits)
        case .toChannel(let name, _, _):
            guard name.special == nil else {
                // Servers trust the messages in a special channel.
                return refuseSpecial(ticket, .wrongParameter, "only the system may send to this channel", &actions)
            }
            bounds = CallBounds(channelPerSecond: rates.limits.channelMessagesPerSecond)
        }
        guard areHooksKnown else { return refuseUnasked(ticket, .messageOther, &actions) }
        let started = StartedCall(call, ticket, by: active, within: bounds)
        actions.append(
            hooks.contains(.send) ? .request(.askHook(.message(started, message))) : .sendMessage(started, message))
    }

    /// Has a service do what the client asks for.
    private mutating func ask(
        _ act: ClientCall.ServiceAct, _ call: ClientCall, _ ticket: CallTicket, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        var bounds = CallBounds()
        if case .changeAttributes(let name, _) = act {
            // The service publishes the change before it replies, but the client that made it must see the answer
            // first.
            if channel.joined?.name == name { holdEvents(&actions) }
            bounds = CallBounds(channelPerSecond: rates.limits.channelAttributeChangesPerSecond)
        }
        actions.append(.askService(StartedCall(call, ticket, by: active, within: bounds), act))
    }

    /// Joins a channel, or asks the app's server first.
    private mutating func askToJoin(_ name: ChannelName, _ call: StartedCall, _ actions: inout SessionActions) {
        // Refused also while the app's settings are unknown.
        guard name.special == nil || (rates.areLimitsKnown && rates.limits.specialChannelsOpen) else {
            return refuseSpecial(call.ticket, .joinOther, "the app does not let clients join this channel", &actions)
        }
        guard areHooksKnown else { return refuseUnasked(call.ticket, .joinOther, &actions) }
        guard !hooks.contains(.join) else { return actions.append(.request(.askHook(.join(call, name)))) }
        join(RequestedJoin(ticket: call.ticket, name: name), call.session, &actions)
    }

    /// Sets what the app's server is asked about from now on; nil while that is not known. While the server is asked
    /// about a message, the messages after it wait.
    mutating func adopt(_ points: HookPoints?) {
        areHooksKnown = points != nil
        hooks = points ?? HookPoints()
        calls.isSerial = hooks.contains(.send)
    }

    /// Refuses what the app's server may have to be asked about, while it is not known whether it must be.
    private mutating func refuseUnasked(_ ticket: CallTicket, _ code: SignalingCode, _ actions: inout SessionActions) {
        let error = SignalingError(code, .unavailable, "the app's settings are not available; try again")
        answered(ticket, .failure(error), &actions)
    }

    /// Does what the app's server was asked about, or refuses it.
    mutating func hookAnswered(_ question: HookQuestion, _ verdict: HookVerdict, _ actions: inout SessionActions) {
        switch question {
        case .login: take(login.authorized(verdict), &actions)
        case .join(let call, let name):
            guard mayGoOn(call, verdict, &actions) else { return }
            join(RequestedJoin(ticket: call.ticket, name: name), call.session, &actions)
        case .message(let call, let message):
            guard mayGoOn(call, verdict, &actions) else { return }
            actions.append(.sendMessage(call, verdict.text.map(message.rewritten) ?? message))
        }
    }

    /// Refuses a call that the app's server does not allow.
    /// - Returns: whether the session goes on with it.
    private mutating func mayGoOn(
        _ call: StartedCall, _ verdict: HookVerdict, _ actions: inout SessionActions
    ) -> Bool {
        // The session has ended meanwhile, and its calls with it.
        guard login.active != nil else { return false }
        guard case .refused(let error) = verdict else { return true }
        answered(call.ticket, .failure(error), &actions)
        return false
    }

    private mutating func refuseSpecial(
        _ ticket: CallTicket, _ code: SignalingCode, _ message: String, _ actions: inout SessionActions
    ) {
        actions.append(.count(.specialChannelRefused))
        answered(ticket, .failure(SignalingError(code, .specialChannel, message)), &actions)
    }

    mutating func messageAnswered(
        _ ticket: CallTicket, _ error: SignalingError?, in name: ChannelName?, _ actions: inout SessionActions
    ) {
        guard let error else { return answered(ticket, .success(.done), &actions) }
        var told = error
        let place = channel.place.held
        if let name, error.reason == .notMember, place.isSettled, place.channel == name, let active = login.active {
            // Redis may have lost that the session is in the channel; the client is then asked to try again.
            actions.append(.session(.askWhoseSession(active.id)))
            told = .unavailable("redis")
        }
        noteRefusal(told, &actions)
        answered(ticket, .failure(told), &actions)
    }

    /// Counts a refusal for lack of space, and schedules a query to presence when another session seems to have
    /// replaced this one.
    func noteRefusal(_ error: SignalingError, _ actions: inout SessionActions) {
        switch error.reason {
        case .sessionOver: if let last = login.lastActive { actions.append(.session(.askWhoseSession(last.id))) }
        case .mailboxFull: actions.append(.count(.mailboxFull))
        case .memoryFull: actions.append(.count(.memoryFull))
        default: break
        }
    }

    /// Writes a call's answer once those before it are written, and then what has waited for it.
    mutating func answered(
        _ ticket: CallTicket, _ result: Result<ReplyBody, SignalingError>, _ actions: inout SessionActions
    ) {
        guard calls.isNext(ticket) else { return calls.keep(ticket, result) }
        write(ticket, result, &actions)
        if ticket.ordering == .exclusive { showHeldEvents(&actions) }
        calls.completed(ticket.ordering)
        while let early = calls.nextKept() {
            write(early.ticket, early.result, &actions)
            calls.completed(early.ticket.ordering)
        }
    }

    /// Writes a call's answer.
    mutating func write(
        _ ticket: CallTicket, _ result: Result<ReplyBody, SignalingError>, _ actions: inout SessionActions
    ) {
        switch result {
        case .success(let body):
            let frame = ServerFrame.callSucceeded(id: ticket.id, body)
            rates.answered(bytes: frame.count, isPoll: body.isMailbox)
            send(frame, isAnswer: true, &actions)
        case .failure(let error):
            send(ServerFrame.callFailed(id: ticket.id, error), &actions)
            actions.append(.count(.callFailure))
        }
    }
}

extension Result<ClientCall, SignalingError> {
    /// How a call may overlap with its neighbours.
    fileprivate var ordering: CallPipeline.Ordering {
        switch self {
        case .success(let call): call.act.isMessage ? .message : .exclusive
        case .failure: .exclusive
        }
    }
}

extension ReplyBody {
    /// Whether this answers a poll.
    fileprivate var isMailbox: Bool { if case .mailbox = self { true } else { false } }
}

extension HookVerdict {
    /// The text with which the message goes on; nil for its own.
    fileprivate var text: String? { if case .rewritten(as: let text) = self { text } else { nil } }
}
