package import Pacing

/// Whether a shard holds its leases, and whether its sessions may send messages without a check by Redis.
///
/// A single Redis checks the sender's session with each message. In a cluster the session's record is at another master
/// than the receiver's mailbox, so the gateway itself must stop in time. A gateway that was suspended or cut off may
/// still hold sessions that presence has ended, and would go on with the messages that wait in its sockets.
///
/// So a shard sends nothing once half of its leases may have expired: presence gives up the shard's sessions only after
/// that. When it has its leases again, a session may send once presence has told which sessions of the sender's
/// partition have ended meanwhile. A session that was resumed at another gateway learns it by an event.
package struct SenderTrust: Sendable {
    private struct Lease {
        /// When the lease may have expired, unless it is renewed before.
        var end = LocalTime.distantPast
        /// The time from which the lease counts; see ``leaseRenewed(_:askedAt:wasHeld:now:)``.
        var countsFrom = LocalTime.distantPast

        func counts(at now: LocalTime) -> Bool { countsFrom <= now && now < end }
    }

    /// How long a lease lasts.
    private let leaseTime: LocalTime.Span
    /// Whether it matters who sends: false when Redis checks senders.
    private let isNeeded: Bool
    private let partitions: Int
    private var leases: [Lease]
    /// When more than half of the leases were held for the first time; nil before.
    private var heldFrom: LocalTime?
    /// The partitions of whose sessions presence has not confirmed all since the leases were lost.
    private var unconfirmed: Set<Int> = []

    /// - Parameters:
    ///   - leases: their number.
    ///   - leaseTime: how long a lease lasts from its renewal.
    ///   - partitions: the number of the bus's partitions.
    ///   - isNeeded: whether Redis does not check senders.
    package init(leases: Int, leaseTime: LocalTime.Span, partitions: Int, isNeeded: Bool) {
        self.leases = Array(repeating: Lease(), count: leases)
        self.leaseTime = leaseTime
        self.partitions = partitions
        self.isNeeded = isNeeded
    }

    /// Whether more than half of the leases have been held once. Before, the shard has no sessions.
    package var hasBegun: Bool { heldFrom != nil }

    /// Called when a lease was renewed, or created.
    ///
    /// One that had expired does not count before it has been held for as long as a lease lasts: a watcher may have
    /// read it as expired, and may still be reading the others.
    /// - Parameters:
    ///   - number: the lease, from 0.
    ///   - asked: when the renewal was asked for.
    ///   - wasHeld: whether the lease existed until then.
    ///   - now: when it was answered.
    /// - Returns: whether too few leases have been held without a gap: then all sessions
    ///   must be reasserted to presence.
    package mutating func leaseRenewed(
        _ number: Int, askedAt asked: LocalTime, wasHeld: Bool, now: LocalTime
    ) -> Bool {
        leases[number].end = max(leases[number].end, asked + leaseTime)
        guard let heldFrom else {
            if isHeld(at: now) { self.heldFrom = now }
            return false
        }
        // What was asked for before there were sessions needs no pause.
        guard !wasHeld, asked > heldFrom else { return false }
        leases[number].countsFrom = now + leaseTime
        guard !isHeld(at: now) else { return false }
        // All that watchers have done until now is found by the reassertion.
        for lease in leases.indices { leases[lease].countsFrom = .distantPast }
        unconfirmed = Set(0..<partitions)
        return true
    }

    /// Called when presence may have answered for all sessions of a partition that are to be reasserted.
    /// - Parameter isAnswered: whether it has, for a partition.
    package mutating func confirm(_ isAnswered: (Int) -> Bool) {
        guard !unconfirmed.isEmpty else { return }
        unconfirmed = unconfirmed.filter { !isAnswered($0) }
    }

    /// Whether a session may send a message now.
    /// - Parameters:
    ///   - now: the time, which is asked for only where it matters.
    ///   - partition: that of the session's user, likewise.
    package func maySend(at now: () -> LocalTime, from partition: () -> Int) -> Bool {
        guard isNeeded else { return true }
        return isHeld(at: now()) && (unconfirmed.isEmpty || !unconfirmed.contains(partition()))
    }

    private func isHeld(at now: LocalTime) -> Bool {
        leases.count { $0.counts(at: now) } > leases.count / 2
    }
}
