/// Whether a shard's sessions may send messages without Redis checking them.
///
/// A single Redis checks the sender's session with each message. In a cluster that session is at another master than the
/// receiver's mailbox, so the gateway itself must stop in time: a gateway that was suspended, or cut off, may hold sessions that
/// presence has ended since, and goes on with what waits in its sockets. It sends nothing once its lease may have expired,
/// because only then does presence give up its sessions, nor when it has a new lease, before presence has told which
/// sessions have ended meanwhile. A session that was resumed elsewhere meanwhile is told by an event.
package struct SenderTrust: Sendable {
    /// How long a lease lasts; nil when Redis checks senders.
    private let leaseTime: LocalTime.Span?
    private var leaseEnd = LocalTime.distantPast
    /// Whether a lease has expired, and presence has not confirmed the sessions since.
    private var isBehind = false

    /// - Parameter leaseTime: how long a lease lasts from its renewal; nil when Redis checks senders.
    package init(leaseTime: LocalTime.Span?) { self.leaseTime = leaseTime }

    /// Called when a renewal has found that the lease had expired; all sessions are then reasserted to presence.
    package mutating func leaseLost() { isBehind = true }

    /// Called when the first lease was taken, or a renewal of one that had not expired has succeeded.
    /// - Parameters:
    ///   - time: when it was asked for.
    ///   - isConfirmed: whether presence has answered for all sessions that were reasserted.
    package mutating func leaseRenewed(at time: LocalTime, isConfirmed: Bool) {
        guard let leaseTime, isConfirmed || !isBehind else { return }
        isBehind = false
        leaseEnd = max(leaseEnd, time + leaseTime)
    }

    /// Whether a session may send a message now.
    /// - Parameter now: the time, which is asked for only where it matters.
    package func maySend(at now: () -> LocalTime) -> Bool { leaseTime == nil || now() < leaseEnd }
}
