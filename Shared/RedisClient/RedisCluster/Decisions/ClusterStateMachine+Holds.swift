internal import NIOCore

/// Closed slots.
extension ClusterStateMachine {
    /// Puts a command that came back into its place, and has the slot tried with the first command alone.
    mutating func settle(_ slot: UInt16, _ command: ClusterCommand) {
        holds[slot, default: SlotHold(stage: .settling)].insert(command)
        holds[slot]?.stage = .settling
    }

    /// Goes on with a closed slot after a command of it has been answered.
    mutating func resume(_ slot: UInt16, _ now: NIODeadline) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        if holds[slot]?.stage == .probing { holds[slot]?.stage = .waiting }
        advance(slot, now, &actions)
        return actions
    }

    /// Sends of a closed slot's commands what may be sent now, and opens the slot if that is all.
    mutating func advance(_ slot: UInt16, _ now: NIODeadline, _ actions: inout [ClusterAction]) {
        guard var hold = holds.removeValue(forKey: slot) else { return }
        for command in hold.takeExpired(now) { fail(command, late(hold.lastRefusal), &actions) }
        switch hold.stage {
        case .probing: holds[slot] = hold
        case .waiting:
            if let owner = readyOwner(slot) {
                while let command = hold.takeFirst() { send(command, to: owner, &actions) }
            } else if !hold.isEmpty {
                holds[slot] = hold
            }
        case .settling:
            probe(slot, &hold, now, &actions)
            // While commands are in flight the slot stays closed even when none waits: a
            // new one must not overtake them.
            if inFlight[Int(slot)] > 0 || !hold.isEmpty { holds[slot] = hold }
        }
        if let time = holds[slot]?.wakeAt(isDrained: inFlight[Int(slot)] == 0) { wake(at: time) }
    }

    /// Sends the first command alone if the slot may be tried now.
    private mutating func probe(
        _ slot: UInt16, _ hold: inout SlotHold, _ now: NIODeadline, _ actions: inout [ClusterAction]
    ) {
        guard inFlight[Int(slot)] == 0 else { return }
        if let time = hold.retryAt, time > now { return }
        hold.retryAt = nil
        guard let owner = readyOwner(slot), let command = hold.takeFirst() else { return }
        hold.stage = .probing
        send(command, to: owner, &actions)
    }

    /// Tries all closed slots, in the order of their first commands.
    mutating func advanceAll(_ now: NIODeadline, _ actions: inout [ClusterAction]) {
        let closed = holds.map { (slot: $0.key, first: $0.value.first?.number ?? 0) }
        for (slot, _) in closed.sorted(by: { ($0.first, $0.slot) < ($1.first, $1.slot) }) {
            advance(slot, now, &actions)
        }
    }

    /// The node to which a slot's commands are sent; nil while none is known and answers.
    func readyOwner(_ slot: UInt16) -> NodeNumber? {
        let owner = owners[Int(slot)]
        return owner != Self.nobody && nodes.isReady(owner) ? owner : nil
    }

    private mutating func send(_ command: ClusterCommand, to node: NodeNumber, _ actions: inout [ClusterAction]) {
        inFlight[Int(index(command.slot))] += 1
        actions.append(.send(command.number, to: node, asking: false))
    }

    mutating func fail(_ command: ClusterCommand, _ error: RedisError, _ actions: inout [ClusterAction]) {
        pending -= 1
        actions.append(.fail(command.number, error))
    }

    /// The error of a command that was held until its deadline.
    func late(_ refusal: RedisError.Code?) -> RedisError {
        guard let refusal else { return .timeout }
        return RedisError(
            code: .timeout, message: "\(RedisError.timeout.message); its slot was last refused with \(refusal)")
    }
}
