internal import SignalingProtocol

/// The settlement of a join without an answer: it is undone in case it took effect, and then the previous membership is
/// checked.
struct JoinSettlement: Equatable, Sendable {
    /// Distinguishes replies for this settlement from those for others.
    let number: Int
    /// The channel of the join.
    let channel: ChannelName
    /// The channel before the join. Its events are still delivered, because the session may still be in it.
    let previous: ChannelKey?
    /// Whether a reply is awaited.
    var isAsking = true
}

/// Settles joins whose outcome is unknown.
extension ClientSession {
    /// Called when a join has failed. If it may have taken effect nevertheless, it is undone, repeatedly until that is
    /// confirmed, so that the client and the other members have the same view.
    mutating func settle(
        _ error: SignalingError, _ name: ChannelName, previous: ChannelKey?, _ actions: inout SessionActions
    ) {
        guard error.reason == .timeout || error.reason == .unavailable, login.isActive else { return }
        actions.append(.count(.joinUnsettled))
        lastNumber += 1
        settlement = JoinSettlement(number: lastNumber, channel: name, previous: previous)
        actions.append(.undoJoin(name, settlement: lastNumber))
    }

    /// Whether a new join must wait, because a late undo of the old join would undo the new one. If not, the new join
    /// replaces the settlement, because it leaves whatever channel the session is in.
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
