package import SignalingProtocol

/// A kind of process that keeps leases up: which keys they are under, and who acts when one ends.
package struct LeaseFleet: Equatable, Sendable {
    /// Milliseconds that a lease lives after a heartbeat.
    package let timeToLive: Int64
    /// Milliseconds from a heartbeat to the watcher's look: a little after the lease's end, because a look in its last
    /// millisecond would find it and be the last.
    package var watchDelay: Int64 { timeToLive + 10 }
    /// Milliseconds between heartbeats.
    package let interval: Int64
    /// Names a member's lease.
    package let lease: @Sendable (GatewayID) -> String
    /// Ids by the time of their last heartbeat.
    package let members: String
    /// Ids that discovery must not name.
    package let draining: String
    /// The service that is told, by a timer `gateway:ID`, when a lease ends.
    package let watcher: ServiceName
    /// Names what a member holds: forgotten with it.
    package let holdings: @Sendable (GatewayID) -> String

    /// By the keys, which differ between any two fleets.
    package static func == (left: LeaseFleet, right: LeaseFleet) -> Bool { left.members == right.members }

    /// Gateways (each shard is one): presence detaches the sessions of a lost one.
    package static let gateways = LeaseFleet(
        timeToLive: 10_000, interval: 2000, lease: KeySpace.lease, members: KeySpace.gateways,
        draining: KeySpace.drainingGateways, watcher: .presence, holdings: KeySpace.sessions)
    /// Sip-bridges: the invitation service ends the calls of a lost one, within 10 s of its end.
    package static let bridges = LeaseFleet(
        timeToLive: 8000, interval: 1000, lease: KeySpace.bridgeLease, members: KeySpace.bridges,
        draining: KeySpace.drainingBridges, watcher: .invitation, holdings: KeySpace.calls)
}
