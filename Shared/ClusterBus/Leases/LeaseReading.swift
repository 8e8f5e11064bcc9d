package import SignalingProtocol

/// What a watcher reads of one of a holder's leases.
package struct LeaseReading: Equatable, Sendable {
    /// The state of a lease, by the clock of its own server.
    package enum Lease: Equatable, Sendable {
        /// It is alive, and ends after this time unless it is renewed.
        case alive(remaining: Duration)
        /// It has expired.
        case expired(lastHeartbeat: RedisTime)
        /// The holder ended it itself, or nothing is known of it.
        case absent
    }

    /// The state.
    package let lease: Lease
    /// The number of its holder's leases, by what it says; nil when it is absent.
    package let count: Int?
    /// When it was read, by the clock of its server.
    package let now: RedisTime

    package init(lease: Lease, count: Int?, now: RedisTime) {
        self.lease = lease
        self.count = count
        self.now = now
    }
}
