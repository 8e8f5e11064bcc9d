internal import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// The session's membership in a channel.
extension ClientSession {
    mutating func handle(_ event: SessionEvent.Channel, _ actions: inout SessionActions) {
        guard let active = login.active else {
            if case .removed(let removal) = event { channel.removal = removal }
            // The session has ended, and with it its need for a channel.
            if case .subscribed(let key, _, _, _) = event { actions.append(.channel(.unsubscribe(key))) }
            return
        }
        switch event {
        case .subscribed(let key, let success, let last, let left):
            if success {
                subscribed(to: key, last: last, left: left, active, &actions)
            } else {
                notSubscribed(to: key, &actions)
            }
        case .joined(let ticket, let result): joined(ticket, result, active, &actions)
        case .left(let ticket, let error):
            left(ticket, error, &actions)
            settleRemoval(active, &actions)
        case .removed(let removal): removed(by: removal, active, &actions)
        case .published(let events): published(events, &actions)
        case .logRead(let number, let page, let last): logRead(number, page, last: last, active, &actions)
        case .joinUndone(let settlement, let isUndone): joinUndone(settlement, isUndone, active, &actions)
        case .membershipTold(let settlement, let isMember): membershipTold(settlement, isMember, active, &actions)
        case .settlementDue(let settlement): settlementDue(settlement, active, &actions)
        }
    }

    // MARK: - Joining

    /// Joins, leaving the channel the session was in.
    mutating func join(_ join: RequestedJoin, _ active: ActiveSession, _ actions: inout SessionActions) {
        let name = join.name
        if channel.joined?.name == name {
            holdEvents(&actions)
            channel.change = .joiningAgain(name)
            return actions.append(.request(.join(active, join.ticket, name, number: channel.place.moves())))
        }
        guard channel.settlement?.delays(join) != true else { return }
        channel.settlement = nil
        channel.change = .subscribing(join)
        actions.append(.request(.subscribe(ChannelKey(app: active.user.app, name: name))))
    }

    private mutating func subscribed(
        to key: ChannelKey, last: ChannelPosition?, left: ChannelPosition?, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        switch channel.change {
        case .resuming(let resumption):
            channel.change = .none
            channel.joinID = 0
            rejoin(key, resumption, last: last, active, &actions)
            settleRemoval(active, &actions)
        case .subscribing(let join) where join.name == key.name:
            let previous = channel.joined.map { ChannelKey(app: key.app, name: $0.name) }
            leaveLocally(&actions)
            enter(key, active, &actions)
            channel.change = .joining(join.name, previous: previous, left: left)
            actions.append(.request(.join(active, join.ticket, join.name, number: channel.place.moves())))
        // A call waits for its answer, so no other subscription was requested.
        case .none, .subscribing, .joining, .joiningAgain, .leaving: actions.append(.channel(.unsubscribe(key)))
        }
    }

    private mutating func notSubscribed(to key: ChannelKey, _ actions: inout SessionActions) {
        switch channel.change {
        case .resuming: abandonResume(in: key.name, &actions)
        case .subscribing(let join) where join.name == key.name:
            channel.change = .none
            answered(join.ticket, .failure(.unavailable("redis")), &actions)
        case .none, .subscribing, .joining, .joiningAgain, .leaving: break
        }
        actions.append(.channel(.unsubscribe(key)))
    }

    private mutating func joined(
        _ ticket: CallTicket, _ result: Result<JoinedChannel, SignalingError>, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        let joining = channel.change
        channel.change = .none
        switch (joining, result) {
        case (.joining(let name, _, _), .success(let joined)), (.joiningAgain(let name), .success(let joined)):
            channel.place.joined(name)
            channel.joinID = joined.position.id
            write(ticket, .success(joined.answer), &actions)
            activate(after: joined.position, &actions)
            calls.completed(ticket.ordering)
        case (.joining(let name, let previous, let left), .failure(let error)):
            channel.place.failed(error)
            leaveLocally(&actions)
            settle(error, name, previous: previous, active, &actions)
            if let previous { stay(in: previous, after: left, active, &actions) }
            answered(ticket, .failure(error), &actions)
        case (.joiningAgain, .failure(let error)):
            channel.place.failed(error)
            answered(ticket, .failure(error), &actions)
        // Only joins get such a reply, and nothing else is in progress at the same time.
        case (.none, _), (.resuming, _), (.subscribing, _), (.leaving, _):
            answerExcluded(ticket, "a join was answered that is not in progress", &actions)
        }
        settleRemoval(active, &actions)
    }

    // MARK: - Leaving

    /// Leaves a channel; the client gets the answer, but not the event.
    mutating func leave(
        _ name: ChannelName, _ ticket: CallTicket, _ active: ActiveSession, _ actions: inout SessionActions
    ) {
        channel.change = .leaving(name)
        actions.append(.request(.leave(active, ticket, name, number: channel.place.moves())))
    }

    private mutating func left(_ ticket: CallTicket, _ error: SignalingError?, _ actions: inout SessionActions) {
        guard case .leaving(let name) = channel.change else {
            return answerExcluded(ticket, "a leave was answered that is not in progress", &actions)
        }
        channel.change = .none
        if let error {
            channel.place.failed(error)
            return answered(ticket, .failure(error), &actions)
        }
        channel.place.left(name)
        if channel.joined?.name == name { leaveLocally(&actions) }
        answered(ticket, .success(.done), &actions)
    }

    // MARK: - Events

    /// Holds the channel's events until the answer to a member's call is written.
    mutating func holdEvents(_ actions: inout SessionActions) {
        channel.joined?.pause()
        actions.append(.channel(.holdEvents))
    }

    /// Sends the held events, after the answer has been written.
    mutating func showHeldEvents(_ actions: inout SessionActions) {
        guard channel.joined?.isPaused == true else { return }
        show(channel.joined?.resume() ?? [], &actions)
    }

    /// Sends what was held; the fan-out may send what follows without asking.
    private func show(_ held: [ChannelEvent], _ actions: inout SessionActions) {
        if let shownAfter = channel.joined?.shownAfter { actions.append(.channel(.showAll(after: shownAfter))) }
        if !held.isEmpty { actions.append(.channel(.show(held))) }
    }

    /// Holds published events until the awaited answer is written, or sends those that the client receives.
    private mutating func published(_ events: [ChannelEvent], _ actions: inout SessionActions) {
        guard channel.joined?.shownAfter != nil else {
            if channel.joined?.hold(events) == false { actions.append(.cutOff) }
            return
        }
        let shown = channel.joined?.shown(of: events) ?? []
        if !shown.isEmpty { actions.append(.channel(.show(shown))) }
    }

    /// Sends the held events above `position`, after the answer to the join has been written; all of them when the
    /// position of the join is unknown (nil).
    mutating func activate(after position: ChannelPosition?, _ actions: inout SessionActions) {
        guard channel.joined != nil else { return }
        // A channel that no longer exists has no sequence numbers.
        if let position, position.sequence > 0 { actions.append(.channel(.advanceFeed(position))) }
        show(channel.joined?.activate(after: position?.id ?? 0) ?? [], &actions)
    }

    mutating func enter(_ key: ChannelKey, _ active: ActiveSession, _ actions: inout SessionActions) {
        channel.enter(key.name)
        actions.append(.channel(.enter(key, as: active.user.account)))
    }

    mutating func leaveLocally(_ actions: inout SessionActions) {
        if channel.leaveLocally() { actions.append(.channel(.leaveLocally)) }
    }
}
