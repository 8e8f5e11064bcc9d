package import SignalingProtocol

/// A kind of process that holds leases, gateways or sip-bridges: its keys, its times, and the service that acts when a lease
/// ends.
package struct LeaseFleet: Equatable, Sendable {
    /// How long a lease lives after a heartbeat, in milliseconds.
    package let timeToLive: Int64
    /// The time from a heartbeat to the watcher's check, in milliseconds. Slightly longer than the lease: a check in the
    /// lease's last millisecond would find it alive, and no other check follows.
    package var watchDelay: Int64 { timeToLive + 10 }
    /// The time between heartbeats in milliseconds.
    package let interval: Int64
    /// The key of a member's lease.
    package let lease: @Sendable (GatewayID) -> String
    /// The key of the sorted set of members, scored by the time of their last heartbeat.
    package let members: String
    /// The key of the set of members that discovery must not name.
    package let draining: String
    /// The service whose timer `gateway:ID` fires when a member's lease ends.
    package let watcher: ServiceName
    /// The key of the set of what a member holds; deleted when the member is forgotten.
    package let holdings: @Sendable (GatewayID) -> String

    /// Compares the keys, which differ between any two fleets.
    package static func == (left: LeaseFleet, right: LeaseFleet) -> Bool { left.members == right.members }

    /// Gateways, each shard separately: presence detaches the sessions of a lost gateway.
    package static let gateways = LeaseFleet(
        timeToLive: 10_000, interval: 2000, lease: KeySpace.lease, members: KeySpace.gateways,
        draining: KeySpace.drainingGateways, watcher: .presence, holdings: KeySpace.sessions)
    /// Sip-bridges: the invitation service ends the calls of a lost bridge, at most 10 s after the bridge died.
    package static let bridges = LeaseFleet(
        timeToLive: 8000, interval: 1000, lease: KeySpace.bridgeLease, members: KeySpace.bridges,
        draining: KeySpace.drainingBridges, watcher: .invitation, holdings: KeySpace.calls)
}
