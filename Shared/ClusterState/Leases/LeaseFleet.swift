package import SignalingProtocol

/// The id of a process that shows by a lease that it is alive: a gateway's or a sip-bridge's.
package protocol LeaseHolder: ByteIdentifier {
    /// Uses an id that one of our own processes made; it is not validated.
    init(_ rawValue: String)
    /// The leases of all processes of this kind.
    static var fleet: LeaseFleet<Self> { get }
}

/// The leases of one kind of process: their keys, their times, and the service that acts when one ends.
package struct LeaseFleet<Holder: LeaseHolder>: Sendable {
    /// How long a lease lives after a heartbeat.
    package let timeToLive: Duration
    /// The time from a heartbeat to the watcher's check. Slightly longer than the lease: a check in the lease's last
    /// millisecond would find it alive, and no other check follows.
    package var watchDelay: Duration { timeToLive + .milliseconds(10) }
    /// The time between heartbeats.
    package let interval: Duration
    /// The key of a holder's lease.
    package let lease: @Sendable (Holder) -> String
    /// The key of the sorted set of holders, scored by the time of their last heartbeat.
    package let members: String
    /// The key of the set of holders that discovery must not name.
    package let draining: String
    /// The service whose timer `gateway ID` fires when a lease ends.
    package let watcher: ServiceName
    /// The key of the set of what a holder holds, which is deleted when the holder is forgotten; nil when there is no such
    /// set.
    package let holdings: @Sendable (Holder) -> String?
}

extension GatewayID: LeaseHolder {
    /// The leases of gateways, one for each shard: presence detaches the sessions of a lost gateway, which it finds by their
    /// routes.
    package static let fleet = LeaseFleet<GatewayID>(
        timeToLive: .seconds(10), interval: .seconds(2), lease: KeySpace.lease, members: KeySpace.gateways,
        draining: KeySpace.drainingGateways, watcher: .presence, holdings: { _ in nil })
}

extension BridgeID: LeaseHolder {
    /// The leases of sip-bridges: the invitation service ends the calls of a lost bridge, at most 10 s after the bridge died.
    package static let fleet = LeaseFleet<BridgeID>(
        timeToLive: .seconds(8), interval: .seconds(1), lease: KeySpace.bridgeLease, members: KeySpace.bridges,
        draining: KeySpace.drainingBridges, watcher: .invitation, holdings: { KeySpace.calls($0) })
}
