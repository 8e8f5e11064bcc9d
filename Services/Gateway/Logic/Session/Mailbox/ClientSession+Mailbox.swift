internal import SignalingProtocol
internal import SignalingWire

/// The poll that waits for the mailbox; there is at most one, because polls do not overlap.
enum PollState: Equatable, Sendable {
    /// No poll. Goes to `delayed`, `asked`.
    case none
    /// Too many polls came before; it is sent to the mailbox when the timer fires. Goes to `asked`, `none`.
    case delayed(CallTurn, verClear: Int64, limit: Int)
    /// The mailbox was polled. `hasTimer` if it did not answer at once: the poll must be answered when the timer fires.
    /// Goes to `none`.
    case asked(CallTurn, verClear: Int64, hasTimer: Bool)

    /// Whether the driver's timer is running.
    var hasTimer: Bool {
        switch self {
        case .none: false
        case .delayed: true
        case .asked(_, _, let hasTimer): hasTimer
        }
    }
}

/// The session's mailbox: translates the actions of ``MailboxStateMachine``, and handles the client's polls.
extension ClientSession {
    mutating func startMailbox(
        _ session: ConnectionStateMachine.Session, fresh: Bool, _ actions: inout SessionActions
    ) {
        var machine = MailboxStateMachine(takesPushes: session.push)
        let first = machine.start(fresh: fresh)
        mailbox = consume machine
        take(first, &actions)
    }

    mutating func handleMailbox(
        _ event: SessionEvent, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        guard !isOver else { return }
        switch event {
        case .mail(let entry, let previous):
            // It was published before the login's answer was written: the first read will find it.
            guard mailbox != nil else { return }
            take(mailbox?.pushed(entry, after: previous, now: environment.redisTime), &actions)
        case .resynchronizeMailbox:
            take(mailbox?.resynchronize(), &actions)
        case .mailboxIs(let version):
            guard let latest = mailbox?.latest, latest != version else { return }
            take(mailbox?.resynchronize(), &actions)
        case .mailboxLoaded(.success(let page)):
            take(mailbox?.loaded(page), &actions)
        case .mailboxLoaded(.failure(let error)):
            noteRefusal(error, &actions)
            actions.append(.loadMailboxLater)
        case .mailboxLoadDue:
            take(mailbox?.loadFailed(), &actions)
        case .mailboxNotCleared(let error):
            noteRefusal(error, &actions)
        case .pollTimerFired:
            pollTimerFired(environment, &actions)
        case .frame, .login, .output, .connectionLost, .close, .appAnswered, .limits, .opened, .resumed, .ratesTaken,
            .loggedOut, .superseded, .end, .tokenCheck, .answered, .messageAnswered, .goOn, .subscribed, .joined, .left,
            .published, .logRead, .joinUndone, .membershipTold, .settlementDue:
            preconditionFailure("not the mailbox's event")
        }
    }

    // MARK: - Polls

    /// Passes a poll to the mailbox, if its rate allows; otherwise delays it.
    mutating func startPoll(
        _ turn: CallTurn, verClear: Int64, limit: Int, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        let delay = rates.pollDelay(now: environment.localTime)
        guard delay > .zero else { return askMailbox(turn, verClear: verClear, limit: limit, environment, &actions) }
        poll = .delayed(turn, verClear: verClear, limit: limit)
        actions.append(.count(.pollDelayed))
        actions.append(.startPollTimer(after: delay))
    }

    private mutating func askMailbox(
        _ turn: CallTurn, verClear: Int64, limit: Int, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        poll = .asked(turn, verClear: verClear, hasTimer: false)
        take(mailbox?.poll(verClear: verClear, limit: limit, now: environment.redisTime), &actions)
        guard case .asked(turn, _, _) = poll else { return }
        let left = turn.arrivedAt + environment.callTimeout - environment.localTime
        poll = .asked(turn, verClear: verClear, hasTimer: true)
        actions.append(.startPollTimer(after: max(.milliseconds(1), left.duration)))
    }

    private mutating func pollTimerFired(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
        switch poll {
        case .none: break
        case .delayed(let turn, let verClear, let limit):
            askMailbox(turn, verClear: verClear, limit: limit, environment, &actions)
        case .asked(let turn, let verClear, _):
            poll = .none
            // Redis does not answer. Old clients never poll again after an error, so the poll gets an empty answer; a
            // notify follows.
            actions.append(.count(.overdue))
            answered(turn, .success(.mailbox(cleared: verClear, entries: [])), &actions)
        }
    }

    // MARK: - The mailbox's actions

    private mutating func take(_ decided: [MailboxStateMachine.Action]?, _ actions: inout SessionActions) {
        guard let decided, login.isActive else { return }
        var hasPushed = false
        for action in decided {
            if case .push(let entry) = action, hasPushed || calls.isPaused || !unsentPushes.isEmpty {
                // One entry at a time, because the client may not accept the next.
                unsentPushes.append(entry)
                continue
            }
            if case .push = action { hasPushed = true }
            take(action, &actions)
        }
        if hasPushed, canGoOn { actions.append(.goOn) }
    }

    private mutating func take(_ action: MailboxStateMachine.Action, _ actions: inout SessionActions) {
        switch action {
        case .load(let after, let fresh): actions.append(.loadMailbox(after: after, fresh: fresh))
        case .answer(let cleared, let entries): answerPoll(cleared: cleared, entries, &actions)
        case .notify(let version): send(ServerFrame.notifyMessage(version: version), &actions)
        case .push(let entry): send(ServerFrame.pushMessage(entry), &actions)
        case .clear(let through): actions.append(.clearMailbox(through: through))
        case .fellBack: actions.append(.count(.mailboxReset))
        }
    }

    private mutating func answerPoll(
        cleared: Int64, _ entries: [MailboxEntry], _ actions: inout SessionActions
    ) {
        guard case .asked(let turn, _, let hasTimer) = poll else {
            // The entry has expired; the notify makes the client poll again.
            if let last = entries.last { send(ServerFrame.notifyMessage(version: last.version), &actions) }
            return
        }
        poll = .none
        if hasTimer { actions.append(.cancelPollTimer) }
        answered(turn, .success(.mailbox(cleared: cleared, entries: entries)), &actions)
    }
}
