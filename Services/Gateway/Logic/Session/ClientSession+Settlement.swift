internal import SignalingProtocol

/// A join whose answer did not come: it is to be undone if it took effect, and where the session is then is to be asked.
struct JoinSettlement: Equatable, Sendable {
    /// Tells its answers from those of others.
    let number: Int
    /// The channel that was to be joined.
    let channel: ChannelName
    /// The one before: its events go on meanwhile, because the session may be in it still.
    let previous: ChannelKey?
    /// Whether an answer is awaited.
    var isAsking = true
}

/// What becomes of a join whose outcome is unknown.
extension ClientSession {
    /// A join has failed. Where it may have taken effect all the same, it is undone until that is confirmed: neither the
    /// client nor other members shall believe half of it.
    mutating func settle(
        _ error: SignalingError, _ name: ChannelName, previous: ChannelKey?, _ actions: inout SessionActions
    ) {
        guard error.reason == .timeout || error.reason == .unavailable, login.isActive else { return }
        actions.append(.count(.joinUnsettled))
        lastNumber += 1
        settlement = JoinSettlement(number: lastNumber, channel: name, previous: previous)
        actions.append(.undoJoin(name, settlement: lastNumber))
    }

    /// Whether a join must wait: an undoing that came late would undo it. Otherwise it makes up for what was to be settled,
    /// because a join leaves what the session was in.
    mutating func waitsForSettlement() -> Bool {
        if settlement?.isAsking == true { return true }
        settlement = nil
        return false
    }

    mutating func joinUndone(_ number: Int, _ isUndone: Bool, _ actions: inout SessionActions) {
        guard let settlement, settlement.number == number else { return }
        guard isUndone, let previous = settlement.previous, login.isActive else {
            return asked(isSettled: isUndone, &actions)
        }
        actions.append(.askMembership(previous, settlement: number))
    }

    mutating func membershipTold(_ number: Int, _ isMember: Bool?, _ actions: inout SessionActions) {
        guard let settlement, settlement.number == number else { return }
        if isMember == false, channel == settlement.previous { leaveLocally(&actions) }
        asked(isSettled: isMember != nil, &actions)
    }

    private mutating func asked(isSettled: Bool, _ actions: inout SessionActions) {
        settlement?.isAsking = false
        guard login.isActive, let number = settlement?.number else { return }
        if case .settling(let turn, let name) = change {
            settlement = nil
            change = .none
            join(name, turn, &actions)
        } else if isSettled {
            settlement = nil
        } else {
            actions.append(.settleLater(number))
        }
    }

    mutating func settlementDue(_ number: Int, _ actions: inout SessionActions) {
        guard let settlement, settlement.number == number, !settlement.isAsking, login.isActive else { return }
        self.settlement?.isAsking = true
        actions.append(.undoJoin(settlement.channel, settlement: number))
    }
}
