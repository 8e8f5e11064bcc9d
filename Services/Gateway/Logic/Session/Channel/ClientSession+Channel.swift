internal import SignalingProtocol
internal import SignalingWire

/// The change of the session's channel that is in progress; there is at most one.
indirect enum ChannelChange: Equatable, Sendable {
    /// None is in progress.
    case none
    /// The channel of a resumed session is being subscribed to. Goes to `none`.
    case resuming
    /// A join waits for the settlement of the previous one. Goes to `subscribing`.
    case settling(CallTurn, ChannelName)
    /// A join waits for its channel's subscription. Goes to `joining`, `none`.
    case subscribing(CallTurn, ChannelName)
    /// Channel-state was asked to join, and so to leave `previous`, whose events were sent up to `left`. Goes to
    /// `none`.
    case joining(ChannelName, previous: ChannelKey?, left: ChannelPosition?)
    /// Channel-state was asked to join the channel that the session is in already. Goes to `none`.
    case joiningAgain(ChannelName)
    /// Channel-state was asked to leave, from `former`. Goes to `none`.
    case leaving(ChannelName, former: ChannelName?)
}

/// Why a channel's log is being read.
enum LogPurpose: Equatable, Sendable {
    /// A resumed client requests the events after this id.
    case resume(after: Int64)
    /// The session stays in a channel that it was going to leave, and needs the events published meanwhile.
    case stay
    /// To get the next page of missed events.
    case nextPage
}

/// The session's membership in a channel.
extension ClientSession {
    mutating func handleChannel(_ event: SessionEvent, _ actions: inout SessionActions) {
        guard !isOver else { return }
        switch event {
        case .subscribed(let key, let success, let last, let left):
            subscribed(to: key, success, last: last, left: left, &actions)
        case .joined(let turn, let result): joined(turn, result, &actions)
        case .left(let turn, let error): left(turn, error, &actions)
        case .published(let events): published(events, &actions)
        case .logRead(let number, let page, let last): self.logRead(number, page, last: last, &actions)
        case .joinUndone(let settlement, let isUndone): joinUndone(settlement, isUndone, &actions)
        case .membershipTold(let settlement, let isMember): membershipTold(settlement, isMember, &actions)
        case .settlementDue(let settlement): settlementDue(settlement, &actions)
        case .frame, .login, .output, .connectionLost, .close, .appAnswered, .limits, .opened, .resumed, .ratesTaken,
            .loggedOut, .superseded, .end, .tokenCheck, .answered, .messageAnswered, .goOn, .mail,
            .resynchronizeMailbox,
            .mailboxIs, .mailboxLoaded, .mailboxLoadDue, .mailboxNotCleared, .pollTimerFired:
            preconditionFailure("not the channel's event")
        }
    }

    // MARK: - Joining

    /// Joins, leaving the channel the session was in.
    mutating func join(_ name: ChannelName, _ turn: CallTurn, _ actions: inout SessionActions) {
        guard let active else { return }
        if channel?.name == name {
            holdEvents(&actions)
            change = .joiningAgain(name)
            return actions.append(.join(turn, name, number: place.moves()))
        }
        guard !waitsForSettlement() else {
            change = .settling(turn, name)
            return
        }
        change = .subscribing(turn, name)
        actions.append(.subscribe(ChannelKey(app: active.user.app, name: name)))
    }

    private mutating func subscribed(
        to key: ChannelKey, _ success: Bool, last: ChannelPosition?, left: ChannelPosition?,
        _ actions: inout SessionActions
    ) {
        switch change {
        case .resuming:
            change = .none
            guard success, login.isActive else { return abandonResume(in: key.name, &actions) }
            rejoin(key, last: last, &actions)
        case .subscribing(let turn, let name) where name == key.name:
            change = .none
            guard success, login.isActive else { return answered(turn, .failure(.unavailable("redis")), &actions) }
            let previous = channel
            leaveLocally(&actions)
            enter(key, &actions)
            change = .joining(name, previous: previous, left: left)
            actions.append(.join(turn, name, number: place.moves()))
        // A call waits for its answer, so no other subscription was requested.
        case .none, .settling, .subscribing, .joining, .joiningAgain, .leaving: break
        }
    }

    private mutating func joined(
        _ turn: CallTurn, _ result: Result<ChannelJoined, SignalingError>, _ actions: inout SessionActions
    ) {
        let joining = change
        change = .none
        switch (joining, result) {
        case (.joining(let name, _, _), .success(let joined)), (.joiningAgain(let name), .success(let joined)):
            place.moved(to: name)
            write(
                turn,
                .success(.joined(id: joined.id, members: joined.members, attributes: joined.attributes)), &actions)
            activate(after: ChannelPosition(sequence: joined.sequence, id: joined.id), &actions)
            complete(turn, &actions)
        case (.joining(let name, let previous, let left), .failure(let error)):
            place.failed(error)
            leaveLocally(&actions)
            settle(error, name, previous: previous, &actions)
            if let previous { stay(in: previous, after: left, &actions) }
            answered(turn, .failure(error), &actions)
        case (.joiningAgain, .failure(let error)):
            place.failed(error)
            answered(turn, .failure(error), &actions)
        // Only joins get such a reply, and nothing else is in progress at the same time.
        case (.none, _), (.resuming, _), (.settling, _), (.subscribing, _), (.leaving, _): break
        }
    }

    // MARK: - Leaving

    /// Leaves a channel; the client gets the answer, but not the event.
    mutating func leave(_ name: ChannelName, _ turn: CallTurn, _ actions: inout SessionActions) {
        change = .leaving(name, former: place.held.channel)
        actions.append(.leave(turn, name, number: place.moves()))
    }

    private mutating func left(_ turn: CallTurn, _ error: SignalingError?, _ actions: inout SessionActions) {
        guard case .leaving(let name, let former) = change else { return }
        change = .none
        if let error {
            place.failed(error)
            return answered(turn, .failure(error), &actions)
        }
        place.moved(to: former == name ? nil : former)
        if channel?.name == name { leaveLocally(&actions) }
        answered(turn, .success(.done), &actions)
    }

    // MARK: - Events

    /// Holds the channel's events until the answer to a member's call is written.
    mutating func holdEvents(_ actions: inout SessionActions) {
        membership?.pause()
        actions.append(.holdEvents)
    }

    /// Sends the held events, after the answer has been written.
    mutating func showHeldEvents(_ actions: inout SessionActions) {
        guard membership?.isPaused == true else { return }
        let held = membership?.resume() ?? []
        show(held, &actions)
    }

    /// Sends what was held; the fan-out may send what follows without asking.
    private func show(_ held: [ChannelEvent], _ actions: inout SessionActions) {
        if let shownAfter = membership?.shownAfter { actions.append(.showAll(after: shownAfter)) }
        if !held.isEmpty { actions.append(.show(held)) }
    }

    /// Holds published events until the awaited answer is written, or sends those that the client receives.
    private mutating func published(_ events: [ChannelEvent], _ actions: inout SessionActions) {
        guard membership?.shownAfter != nil else {
            if membership?.hold(events) == false { actions.append(.cutOff) }
            return
        }
        let shown = membership.map { events.filter($0.shows) } ?? []
        if !shown.isEmpty { actions.append(.show(shown)) }
    }

    /// Sends the held events above `position`, after the answer to the join has been written; all of them when the
    /// position of the join is unknown (nil).
    private mutating func activate(after position: ChannelPosition?, _ actions: inout SessionActions) {
        guard channel != nil else { return }
        // A channel that no longer exists has no sequence numbers.
        if let position, position.sequence > 0 { actions.append(.advanceFeed(position)) }
        show(membership?.activate(after: position?.id ?? 0) ?? [], &actions)
    }

    private mutating func enter(_ key: ChannelKey, _ actions: inout SessionActions) {
        channel = key
        membership = Membership()
        actions.append(.enter(key))
    }

    mutating func leaveLocally(_ actions: inout SessionActions) {
        guard channel != nil else { return }
        channel = nil
        membership = nil
        actions.append(.leaveLocally)
    }

    // MARK: - What was missed

    /// Continues in the channel of a resumed session, from the event that the client names, or else from now on.
    private mutating func rejoin(_ key: ChannelKey, last: ChannelPosition?, _ actions: inout SessionActions) {
        enter(key, &actions)
        guard let after = resumeAfter else {
            // The client did not request missed events, so it is unknown whether there are any.
            finishResume(channel: key.name, complete: false, &actions)
            return activate(after: last, &actions)
        }
        resumeAfter = nil
        read(key, after: ChannelPosition(sequence: 0, id: after), for: .resume(after: after), &actions)
    }

    /// Continues in a channel that was not left after all, with the events published meanwhile.
    private mutating func stay(in key: ChannelKey, after position: ChannelPosition?, _ actions: inout SessionActions) {
        enter(key, &actions)
        guard let position else { return activate(after: nil, &actions) }
        read(key, after: position, for: .stay, &actions)
    }

    private mutating func read(
        _ key: ChannelKey, after position: ChannelPosition, for purpose: LogPurpose, _ actions: inout SessionActions
    ) {
        // Events published before the read is executed are in the log.
        membership?.holdAnew()
        lastNumber += 1
        logRead = (lastNumber, purpose)
        actions.append(.readLog(key, after: position, number: lastNumber))
    }

    private mutating func logRead(
        _ number: Int, _ page: ChannelLogPage?, last: ChannelPosition?, _ actions: inout SessionActions
    ) {
        // The user may have left meanwhile, or joined again.
        guard let read = logRead, read.number == number else { return }
        logRead = nil
        guard let channel, membership?.shownAfter == nil else { return }
        switch read.purpose {
        case .resume(let after):
            finishResume(channel: channel.name, complete: page?.complete ?? false, &actions)
            actions.append(.continueIDs(after: after))
        case .stay: break
        case .nextPage:
            // The client was told that nothing is missing, which would now be wrong; it resumes again from its last event.
            guard page?.complete == true else { return abandonResume(in: channel.name, &actions) }
        }
        replay = ChannelReplay(page, last: last)
        continueReplay(&actions)
    }

    /// Writes one batch of missed events; after the last one the channel's live events follow.
    mutating func continueReplay(_ actions: inout SessionActions) {
        guard !calls.isPaused, replay != nil else { return }
        guard let channel, membership != nil, membership?.shownAfter == nil else {
            replay = nil
            return
        }
        let events = replay?.takeNext() ?? []
        guard events.isEmpty, let done = replay else {
            actions.append(.show(events))
            return actions.append(.goOn)
        }
        replay = nil
        guard let position = done.next else { return activate(after: done.activeAfter, &actions) }
        read(channel, after: position, for: .nextPage, &actions)
    }

    /// Gives up a resume because the events of the session's channel are not available; the client then tries again.
    private mutating func abandonResume(in name: ChannelName, _ actions: inout SessionActions) {
        guard login.isActive else { return }
        actions.append(.count(.resumeAbandoned(name)))
        lose(.goingAway, &actions)
    }
}
