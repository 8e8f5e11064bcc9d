internal import SignalingProtocol

/// Settles joins whose outcome is unknown.
extension ClientSession {
    /// Called when a join has failed. If it may have taken effect nevertheless, it is undone, repeatedly until that is
    /// confirmed, so that the client and the other members have the same view.
    mutating func settle(
        _ error: SignalingError, _ name: ChannelName, previous: ChannelKey?, _ active: ActiveSession,
        _ actions: inout SessionActions
    ) {
        guard error.reason == .timeout || error.reason == .unavailable else { return }
        actions.append(.count(.joinUnsettled))
        let number = channel.nextNumber()
        channel.settlement = JoinSettlement(number: number, channel: name, previous: previous)
        actions.append(.request(.undoJoin(active, name, settlement: number)))
    }

    mutating func joinUndone(
        _ number: Int, _ isUndone: Bool, _ active: ActiveSession, _ actions: inout SessionActions
    ) {
        guard let settlement = channel.settlement, settlement.number == number else { return }
        guard isUndone, let previous = settlement.previous else { return asked(isSettled: isUndone, active, &actions) }
        actions.append(.request(.askMembership(active, previous, settlement: number)))
    }

    mutating func membershipTold(
        _ number: Int, _ isMember: Bool?, _ active: ActiveSession, _ actions: inout SessionActions
    ) {
        guard let settlement = channel.settlement, settlement.number == number else { return }
        if isMember == false, channel.joined?.name == settlement.previous?.name { leaveLocally(&actions) }
        asked(isSettled: isMember != nil, active, &actions)
    }

    private mutating func asked(isSettled: Bool, _ active: ActiveSession, _ actions: inout SessionActions) {
        guard let number = channel.settlement?.number else { return }
        if let next = channel.settlement?.answered() {
            channel.settlement = nil
            join(next, active, &actions)
        } else if isSettled {
            channel.settlement = nil
        } else {
            actions.append(.request(.settleLater(number)))
        }
    }

    mutating func settlementDue(_ number: Int, _ active: ActiveSession, _ actions: inout SessionActions) {
        guard channel.settlement?.number == number, channel.settlement?.asksAgain() == true,
            let name = channel.settlement?.channel
        else { return }
        actions.append(.request(.undoJoin(active, name, settlement: number)))
    }
}
