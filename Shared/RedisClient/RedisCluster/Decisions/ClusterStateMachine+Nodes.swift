internal import NIOCore

/// Connections to nodes, and the timer.
extension ClusterStateMachine {
    /// A node can be used, for the first time or again.
    mutating func linkOpened(_ node: NodeNumber, now: NIODeadline) -> [ClusterAction] { link(node, .up, now) }

    /// A node's connection broke; it is being opened again. The commands that were in flight are reported as lost.
    mutating func linkClosed(_ node: NodeNumber, now: NIODeadline) -> [ClusterAction] { link(node, .opening, now) }

    /// A node has not answered for a second (or nothing else came from it): commands are held back until it does.
    mutating func linkSilent(_ node: NodeNumber, now: NIODeadline) -> [ClusterAction] {
        guard nodes[node]?.link == .up else { return [] }
        return link(node, .silent, now)
    }

    /// A node that was reported silent answers again.
    mutating func linkHeard(_ node: NodeNumber, now: NIODeadline) -> [ClusterAction] {
        guard nodes[node]?.link == .silent else { return [] }
        return link(node, .up, now)
    }

    private mutating func link(_ node: NodeNumber, _ link: NodeTable.Link, _ now: NIODeadline) -> [ClusterAction] {
        guard nodes.set(node, link) else { return [] }
        var actions: [ClusterAction] = []
        if link == .up { advanceAll(now, &actions) } else { wantMap(now) }
        return actions
    }

    /// The number of the node at an address, which is opened if it is new; nil at the bound of nodes.
    mutating func open(_ address: NodeAddress, _ actions: inout [ClusterAction]) -> NodeNumber? {
        if let number = nodes.number(of: address) { return number }
        guard nodes.count < settings.maxNodes else { return nil }
        let number = nodes.add(address)
        actions.append(.open(number, address))
        return number
    }

    /// Reads the map, fails what has waited too long, and tries closed slots, as far as it is time.
    mutating func timer(_ now: NIODeadline) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        if reading.isOverdue(now), let number = reading.current?.number {
            actions += mapFailed(number, .timeout, now: now)
        }
        if let time = nextDrop, time <= now { dropIdle(now, &actions) }
        if reading.isDue(now) { read(now, &actions) }
        wakeAt = reading.wakeAt
        if let time = suspendedUntil, time <= now {
            actions += failoverAborted(now)
        } else if let suspendedUntil {
            wake(at: suspendedUntil)
        }
        if let nextDrop { wake(at: nextDrop) }
        var due: [(first: UInt64, slot: UInt16)] = []
        for (slot, hold) in holds {
            guard let time = hold.wakeAt(isDrained: inFlight[Int(slot)] == 0) else { continue }
            if time <= now { due.append((hold.first?.number ?? 0, slot)) } else { wake(at: time) }
        }
        due.sort { ($0.first, $0.slot) < ($1.first, $1.slot) }
        for (_, slot) in due { advance(slot, now, &actions) }
        return actions
    }
}
