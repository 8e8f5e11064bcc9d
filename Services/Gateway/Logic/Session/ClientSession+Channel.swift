internal import SignalingProtocol
internal import SignalingWire

/// The act that changes the session's channel, of which there is one at a time.
indirect enum ChannelChange: Equatable, Sendable {
    /// None is under way.
    case none
    /// A resumed session's channel is being subscribed to. Goes to `none`.
    case resuming
    /// A join waits for the settlement of the one before. Goes to `subscribing`.
    case settling(CallTurn, ChannelName)
    /// A join waits for its channel's subscription. Goes to `joining`, `none`.
    case subscribing(CallTurn, ChannelName)
    /// Channel-state was asked to join, leaving `previous`, whose events were shown up to `left`. Goes to `none`.
    case joining(ChannelName, previous: ChannelKey?, left: ChannelPosition?)
    /// Channel-state was asked to join the channel that the session is in. Goes to `none`.
    case joiningAgain(ChannelName)
    /// Channel-state was asked to leave, from `former`. Goes to `none`.
    case leaving(ChannelName, former: ChannelName?)
}

/// Why a channel's log is read.
enum LogPurpose: Equatable, Sendable {
    /// A resumed client asks for what it missed after this id.
    case resume(after: Int64)
    /// The session stays in a channel that it was to leave: what was published meanwhile.
    case stay
    /// The next page of what was missed.
    case nextPage
}

/// The session's place in a channel.
extension ClientSession {
    mutating func handleChannel(_ event: SessionEvent, _ actions: inout SessionActions) {
        guard !isOver else { return }
        switch event {
        case .subscribed(let key, let success, let last, let left):
            subscribed(to: key, success, last: last, left: left, &actions)
        case .joined(let turn, let result): joined(turn, result, &actions)
        case .left(let turn, let error): left(turn, error, &actions)
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
        // A call's answer is awaited: no other subscription was asked for.
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
        // Only joins are answered so, and nothing else is under way with them.
        case (.none, _), (.resuming, _), (.settling, _), (.subscribing, _), (.leaving, _): break
        }
    }

    // MARK: - Leaving

    /// Leaves; the leaver gets the answer, not the event.
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

    /// Until the answer to an act of a member was written.
    mutating func holdEvents(_ actions: inout SessionActions) {
        membership?.pause()
        actions.append(.closeLane)
    }

    /// The answer that the member's events waited for was written.
    mutating func showHeldEvents(_ actions: inout SessionActions) {
        let held = membership?.resume() ?? []
        if !held.isEmpty { actions.append(.show(held)) }
    }

    /// The joiner's answer was written: shows what was held above `position` (nil: the joining point is unknown, all).
    private mutating func activate(after position: ChannelPosition?, _ actions: inout SessionActions) {
        guard channel != nil else { return }
        // A channel that is gone has no numbers.
        if let position, position.sequence > 0 { actions.append(.advanceFeed(position)) }
        let held = membership?.activate(after: position?.id ?? 0) ?? []
        if !held.isEmpty { actions.append(.show(held)) }
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

    /// Goes on in the channel of a resumed session, from the event the client names, or from now on.
    private mutating func rejoin(_ key: ChannelKey, last: ChannelPosition?, _ actions: inout SessionActions) {
        enter(key, &actions)
        guard let after = resumeAfter else {
            // The client did not ask for what it missed: whether something was is not known.
            finishResume(channel: key.name, complete: false, &actions)
            return activate(after: last, &actions)
        }
        resumeAfter = nil
        read(key, after: ChannelPosition(sequence: 0, id: after), for: .resume(after: after), &actions)
    }

    /// Goes on in a channel that was not left after all, with what was published meanwhile.
    private mutating func stay(in key: ChannelKey, after position: ChannelPosition?, _ actions: inout SessionActions) {
        enter(key, &actions)
        guard let position else { return activate(after: nil, &actions) }
        read(key, after: position, for: .stay, &actions)
    }

    private mutating func read(
        _ key: ChannelKey, after position: ChannelPosition, for purpose: LogPurpose, _ actions: inout SessionActions
    ) {
        // What is published before the read is executed is in the log.
        membership?.holdAnew()
        lastNumber += 1
        logRead = (lastNumber, purpose)
        actions.append(.readLog(key, after: position, number: lastNumber))
    }

    private mutating func logRead(
        _ number: Int, _ page: ChannelLogPage?, last: ChannelPosition?, _ actions: inout SessionActions
    ) {
        // The user may have left meanwhile, or joined anew.
        guard let read = logRead, read.number == number else { return }
        logRead = nil
        guard let channel, membership?.shownAfter == nil else { return }
        switch read.purpose {
        case .resume(let after):
            finishResume(channel: channel.name, complete: page?.complete ?? false, &actions)
            lastEventID = after
        case .stay: break
        case .nextPage:
            // What the client was told of completeness would be wrong: it resumes from where it is.
            guard page?.complete == true else { return abandonResume(in: channel.name, &actions) }
        }
        replay = ChannelReplay(page, last: last)
        continueReplay(&actions)
    }

    /// One write of what a resumed client has missed; after the last the channel goes on.
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

    /// The events of the session's channel cannot be had: rather than go on without them, the client is to try again.
    private mutating func abandonResume(in name: ChannelName, _ actions: inout SessionActions) {
        guard login.isActive else { return }
        actions.append(.count(.resumeAbandoned(name)))
        lose(.goingAway, &actions)
    }
}
