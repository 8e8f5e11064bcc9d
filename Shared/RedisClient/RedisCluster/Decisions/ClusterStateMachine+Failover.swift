internal import NIOCore

/// What Sentinels tell of a failover. Only with one master.
extension ClusterStateMachine {
    /// A replica is about to be promoted, while the master goes on to take writes that will be lost: holds all commands
    /// back. What is in flight reaches the replica before its promotion.
    mutating func failoverBegan(_ now: NIODeadline) -> [ClusterAction] {
        guard settings.flavour.hasOneMaster, map != nil else { return [] }
        let until = now + settings.suspensionTime
        suspendedUntil = until
        nodes.suspend(true)
        wake(at: until)
        return []
    }

    /// The master stays the same, or it is not known how the failover ended: sends what was held back.
    mutating func failoverAborted(_ now: NIODeadline) -> [ClusterAction] {
        guard suspendedUntil != nil else { return [] }
        endSuspension()
        // What the Sentinels say now decides.
        wantMap(now)
        var actions: [ClusterAction] = []
        advanceAll(now, &actions)
        return actions
    }

    /// A Sentinel's failover has ended, and this is the master now.
    mutating func switched(to master: NodeAddress, now: NIODeadline) -> [ClusterAction] {
        endSuspension()
        return apply(SlotMap(single: master), now)
    }

    mutating func endSuspension() {
        guard suspendedUntil != nil else { return }
        suspendedUntil = nil
        nodes.suspend(false)
    }
}
