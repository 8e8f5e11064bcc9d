internal import BusProtocol
internal import Pacing
internal import SignalingProtocol
internal import SignalingWire

/// The session's mailbox: translates the actions of ``MailboxStateMachine``, and handles the client's polls.
extension ClientSession {
    /// Creates the mailbox and reads it, unless it was empty and there has been no news of it since.
    /// - Parameters:
    ///   - fresh: whether this is a new session, whose client cannot know the calls of earlier sessions.
    ///   - empty: the mailbox as presence has found it, if nothing waited in it.
    mutating func startMailbox(
        of owner: ActiveSession, fresh: Bool, empty: EmptyMailbox?, _ actions: inout SessionActions
    ) {
        mailbox = SessionMailbox(of: owner)
        if let empty, !isMailMissed { return take(mailbox?.machine.start(empty), &actions) }
        take(mailbox?.machine.start(fresh: fresh), &actions)
    }

    mutating func handle(
        _ event: SessionEvent.Mailbox, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        // An entry that is published before the answer to the login or resume is written is found by the first read.
        guard mailbox != nil else {
            isMailMissed = true
            return
        }
        switch event {
        case .published(let entry, let previous):
            take(mailbox?.machine.pushed(entry, after: previous, now: environment.redisTime), &actions)
        case .gapDue(let gap): take(mailbox?.machine.gapDue(gap), &actions)
        case .resynchronize: take(mailbox?.machine.resynchronize(), &actions)
        case .latest(let version):
            guard let latest = mailbox?.machine.latest, latest != version else { return }
            take(mailbox?.machine.resynchronize(), &actions)
        case .loaded(.success(let page)): take(mailbox?.machine.loaded(page), &actions)
        case .loaded(.failure(let error)):
            noteRefusal(error, &actions)
            actions.append(.request(.loadMailboxLater))
        case .loadDue: take(mailbox?.machine.loadFailed(), &actions)
        case .notCleared(let error): noteRefusal(error, &actions)
        case .pollTimerFired: pollTimerFired(environment, &actions)
        }
    }

    // MARK: - Polls

    /// Passes a poll to the mailbox, if its rate allows; otherwise delays it.
    mutating func startPoll(
        _ poll: MailboxPoll, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        guard mailbox != nil else {
            return answerExcluded(poll.ticket, "a poll was started before the mailbox", &actions)
        }
        let delay = rates.pollDelay(now: environment.localTime)
        guard delay > .zero else { return askMailbox(poll, environment, &actions) }
        mailbox?.become(.delayed(poll))
        actions.append(.count(.pollDelayed))
        actions.append(.startPollTimer(after: delay))
    }

    private mutating func askMailbox(
        _ poll: MailboxPoll, _ environment: any SessionEnvironment, _ actions: inout SessionActions
    ) {
        let (ticket, verClear) = (poll.ticket, poll.verClear)
        mailbox?.become(.asked(ticket, verClear: verClear, hasTimer: false))
        take(
            mailbox?.machine.poll(verClear: verClear, limit: poll.limit, now: environment.redisTime), &actions)
        guard case .asked(ticket, _, _)? = mailbox?.poll else { return }
        let left = ticket.arrivedAt + environment.callTimeout - environment.localTime
        mailbox?.become(.asked(ticket, verClear: verClear, hasTimer: true))
        actions.append(.startPollTimer(after: max(.milliseconds(1), left.duration)))
    }

    private mutating func pollTimerFired(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
        switch mailbox?.poll {
        case nil, PollState.none?: break
        case .delayed(let poll)?: askMailbox(poll, environment, &actions)
        case .asked(let ticket, let verClear, _)?:
            mailbox?.become(.none)
            // Redis does not answer. Old clients never poll again after an error, so the poll gets an empty answer; a
            // notify follows.
            actions.append(.count(.overdue))
            answered(ticket, .success(.mailbox(cleared: verClear, entries: [])), &actions)
        }
    }

    // MARK: - The mailbox's actions

    private mutating func take(_ decided: [MailboxStateMachine.Action]?, _ actions: inout SessionActions) {
        guard let decided, let owner = mailbox?.owner else { return }
        var hasPushed = false
        for action in decided {
            if case .push(let entry) = action {
                // One entry at a time, because the client may not accept the next.
                guard !hasPushed, !calls.isPaused, mailbox?.unsentPushes.isEmpty == true else {
                    mailbox?.unsentPushes.append(entry)
                    continue
                }
                hasPushed = true
            }
            take(action, of: owner, &actions)
        }
    }

    private mutating func take(
        _ action: MailboxStateMachine.Action, of owner: ActiveSession, _ actions: inout SessionActions
    ) {
        switch action {
        case .load(let after, let fresh): actions.append(.request(.loadMailbox(owner, after: after, fresh: fresh)))
        case .answer(let cleared, let entries): answerPoll(cleared: cleared, entries, &actions)
        case .notify(let version): send(ServerFrame.notifyMessage(version: version), &actions)
        case .push(let entry): send(ServerFrame.pushMessage(entry), &actions)
        case .clear(let through): actions.append(.request(.clearMailbox(owner, through: through)))
        case .awaitEarlier(let gap): actions.append(.request(.awaitEarlierMail(gap: gap)))
        case .fellBack: actions.append(.count(.mailboxReset))
        }
    }

    private mutating func answerPoll(
        cleared: Int64, _ entries: [MailboxEntry], _ actions: inout SessionActions
    ) {
        guard case .asked(let ticket, _, let hasTimer)? = mailbox?.poll else {
            // The entry has expired; the notify makes the client poll again.
            if let last = entries.last { send(ServerFrame.notifyMessage(version: last.version), &actions) }
            return
        }
        mailbox?.become(.none)
        if hasTimer { actions.append(.cancelPollTimer) }
        answered(ticket, .success(.mailbox(cleared: cleared, entries: entries)), &actions)
    }
}
