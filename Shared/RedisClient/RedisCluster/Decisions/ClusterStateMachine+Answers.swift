internal import NIOCore

/// Answers to commands.
extension ClusterStateMachine {
    /// A command is done: its reply arrived, or its driver has completed it with an error that is no reply.
    mutating func answered(_ command: ClusterCommand, now: @autoclosure () -> NIODeadline) -> [ClusterAction] {
        let slot = index(command.slot)
        pending -= 1
        inFlight[Int(slot)] -= 1
        return holds.isEmpty || holds[slot] == nil ? [] : resume(slot, now())
    }

    /// An error reply arrived. The driver keeps the command until an action sends or fails it.
    mutating func answered(
        _ command: ClusterCommand, by node: NodeNumber, _ error: RedisError, now: NIODeadline
    ) -> [ClusterAction] {
        guard let address = nodes[node]?.address, let refusal = Refusal(error, by: address), !isWrongFlavour(refusal)
        else { return [.fail(command.number, error)] + answered(command, now: now) }
        var actions: [ClusterAction] = []
        if case .ask(let target) = refusal, follow(command, from: node, to: target, now, &actions) { return actions }
        hold(command, by: node, refusal, now, &actions)
        return actions
    }

    /// A command's connection broke, or was closed because its node was dropped. The driver keeps the command
    /// until an action sends or fails it.
    /// - Parameter wasWritten: false when the command certainly never reached the server.
    mutating func lost(_ command: ClusterCommand, wasWritten: Bool, now: NIODeadline) -> [ClusterAction] {
        let slot = index(command.slot)
        guard command.traits.isRepeatable || !wasWritten, command.traits.deadline > now else {
            let error = wasWritten ? RedisError.closed : late(nil)
            return [.fail(command.number, error)] + answered(command, now: now)
        }
        inFlight[Int(slot)] -= 1
        settle(slot, command)
        var actions: [ClusterAction] = []
        advance(slot, now, &actions)
        return actions
    }

    /// MOVED and ASK are answers of a cluster: from a master that Sentinels name they are errors.
    private func isWrongFlavour(_ refusal: Refusal) -> Bool {
        guard settings.flavour.hasOneMaster else { return false }
        return switch refusal {
        case .moved, .ask, .tryAgain: true
        case .clusterDown, .noReplicas, .readOnly, .loading, .masterDown: false
        }
    }

    /// Sends a command with one key to the node to which ASK refers it.
    /// - Returns: false when it must wait instead: it names a whole slot, an earlier command of the slot waits, the
    ///   node was itself named by ASK, there is no connection yet, or its time is over.
    private mutating func follow(
        _ command: ClusterCommand, from node: NodeNumber, to target: NodeAddress?, _ now: NIODeadline,
        _ actions: inout [ClusterAction]
    ) -> Bool {
        guard let target, let guest = open(target, &actions) else { return false }
        nodes.keep(guest, until: now + settings.guestTime)
        let slot = index(command.slot)
        let isFirst = holds[slot]?.first.map { $0.number > command.number } ?? true
        guard !command.traits.isFenced, isFirst, owners[Int(slot)] == node, nodes.isReady(guest),
            command.traits.deadline > now
        else { return false }
        actions.append(.send(command.number, to: guest, asking: true))
        return true
    }

    /// Closes the slot of a refused command, and queues the command.
    private mutating func hold(
        _ command: ClusterCommand, by node: NodeNumber, _ refusal: Refusal, _ now: NIODeadline,
        _ actions: inout [ClusterAction]
    ) {
        let slot = index(command.slot)
        let isRetry = holds[slot]?.stage == .probing
        let isSettling = holds[slot]?.stage == .settling
        inFlight[Int(slot)] -= 1
        settle(slot, command)
        holds[slot]?.lastRefusal = refusal.code
        switch refusal {
        case .moved(let target):
            // The slot is tried at its new owner at once. But nodes that name each other, because news of a slot
            // spreads, are left alone for a while.
            if owners[Int(slot)] == node {
                if isRetry || target == nil { retry(slot, in: settings.migrationPause, now) }
                if let target { correct(command.slot, to: target, &actions) }
            }
            wantMap(now)
        case .ask, .tryAgain:
            if !isSettling { retry(slot, in: settings.migrationPause, now) }
        case .clusterDown, .noReplicas, .readOnly, .loading, .masterDown:
            if !isSettling { retry(slot, in: settings.statePause, now) }
            if refusal != .noReplicas { wantMap(now) }
        }
        advance(slot, now, &actions)
    }

    private mutating func retry(_ slot: UInt16, in pause: ClosedRange<Int64>, _ now: NIODeadline) {
        holds[slot]?.retryAt = (now + .random(pause, using: &random)).roundedUp(to: SlotHold.retryStep)
    }

    /// Takes over what MOVED says of one slot, before the whole map is read.
    private mutating func correct(_ slot: UInt16, to target: NodeAddress, _ actions: inout [ClusterAction]) {
        guard let owner = open(target, &actions), owner != owners[Int(index(slot))] else { return }
        map?.move(slot, to: target)
        owners[Int(index(slot))] = owner
        actions.append(.mapChanged(SlotMapChanges(moved: [slot...slot], new: [], gone: [])))
    }
}
