internal import BusProtocol
internal import SignalingProtocol

/// The channel events that a client has missed.
extension ClientSession {
    /// Continues in the channel of a resumed session, from the event that the client names, or else from now on.
    /// - Parameter last: the position of the channel's feed.
    mutating func rejoin(
        _ key: ChannelKey, _ resumption: Resumption, last: ChannelPosition?, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        enter(key, active, &actions)
        guard let after = resumption.after else {
            // It is unknown whether the client has missed events.
            finishResume(of: active, in: key.name, complete: false, resumption.mail, &actions)
            return activate(after: last, &actions)
        }
        read(key, after: ChannelPosition(sequence: 0, id: after), for: .resume(after: after, resumption.mail), &actions)
    }

    /// Continues in a channel that was not left after all, with the events published meanwhile.
    mutating func stay(
        in key: ChannelKey, after position: ChannelPosition?, _ active: ActiveSession, _ actions: inout SessionActions
    ) {
        enter(key, active, &actions)
        guard let position else { return activate(after: nil, &actions) }
        read(key, after: position, for: .stay(after: position), &actions)
    }

    private mutating func read(
        _ key: ChannelKey, after position: ChannelPosition, for purpose: LocalMembership.LogPurpose,
        _ actions: inout SessionActions
    ) {
        let number = channel.nextNumber()
        channel.joined?.reads(number, for: purpose)
        actions.append(.request(.readLog(key, after: position, number: number)))
    }

    mutating func logRead(
        _ number: Int, _ page: ChannelLogPage?, last: ChannelPosition?, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        // The user may have left meanwhile, or joined again.
        guard let name = channel.joined?.name, let purpose = channel.joined?.hasRead(number) else { return }
        switch purpose {
        case .resume(let after, let mail):
            finishResume(of: active, in: name, complete: page?.complete ?? false, mail, &actions)
            actions.append(.channel(.continueIDs(after: after)))
        case .stay(let position) where page == nil:
            // Once more, after the answer that is awaited: Redis may be back by then.
            channel.joined?.replays(ChannelReplay(readAfter: position))
            return continueReplay(&actions)
        case .stay, .nextPage:
            // The client knows of nothing that is missing, which would now be wrong; it resumes from its last event.
            guard page?.complete == true else { return abandonResume(in: name, &actions) }
        }
        channel.joined?.replays(ChannelReplay(page, last: last))
        continueReplay(&actions)
    }

    /// Writes one batch of missed events, unless an answer must be written first; after the last one the channel's live
    /// events follow.
    mutating func continueReplay(_ actions: inout SessionActions) {
        guard !calls.isPaused, let app, let name = channel.joined?.name, let step = channel.joined?.nextStep() else {
            return
        }
        switch step {
        case .show(let events): if !events.isEmpty { actions.append(.channel(.show(events))) }
        case .read(let position): read(ChannelKey(app: app, name: name), after: position, for: .nextPage, &actions)
        case .activate(let position): activate(after: position, &actions)
        }
    }

    /// Closes the connection because events of the session's channel are not available; the client then resumes.
    mutating func abandonResume(in name: ChannelName, _ actions: inout SessionActions) {
        actions.append(.count(.resumeAbandoned(name)))
        lose(.goingAway, &actions)
    }
}
