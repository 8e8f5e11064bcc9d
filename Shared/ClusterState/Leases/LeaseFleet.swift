package import SignalingProtocol

/// The id of a process that shows by a lease that it is alive: a gateway's or a sip-bridge's.
package protocol LeaseHolder: ByteIdentifier {
    /// Uses an id that one of our own processes made; it is not validated.
    init(_ rawValue: String)
    /// The leases of all processes of this kind.
    static var fleet: LeaseFleet<Self> { get }
}

/// The leases of one kind of process: their keys, their times, and the service that acts when one ends.
///
/// What concerns a lease is in three places, which may be three servers: the lease itself, at a key of its own; its watcher's
/// timer; and the list of the kind's living processes. Each heartbeat renews all three, and none of them needs another.
package struct LeaseFleet<Holder: LeaseHolder>: Sendable {
    /// How long a lease lives after a heartbeat.
    package let timeToLive: Duration
    /// How long the lease's key outlives the lease, so that the watcher learns the time of the last heartbeat, even when it
    /// looks late. A lease is alive while its key has more than this to live.
    package var keptAfterEnd: Duration { .seconds(12 * 3600) }
    /// The time from the end of a lease to the watcher's check: a check in the lease's last millisecond would find it alive.
    package var margin: Duration { .milliseconds(10) }
    /// The time from a heartbeat to the watcher's check.
    package var watchDelay: Duration { timeToLive + margin }
    /// The time between heartbeats.
    package let interval: Duration
    /// The key of a holder's lease.
    package let lease: @Sendable (Holder) -> String
    /// What the watcher's timer is about.
    package let subject: @Sendable (Holder) -> Subject
    /// The key of the sorted set of holders that do not drain, scored by the time of their last heartbeat.
    package let members: String
    /// The key of the hash of what these holders tell of themselves.
    package let records: String
    /// The service whose timer fires when a lease ends.
    package let watcher: ServiceName
    /// The first word of that timer; the second is the holder's id.
    let timerWord: String

    /// The watcher's timer for a holder, as a member of the watcher's sorted set.
    package func timer(_ holder: Holder) -> String { "\(timerWord) \(holder.rawValue)" }
}

extension GatewayID: LeaseHolder {
    /// The leases of gateways, one for each shard: presence detaches the sessions of a lost gateway, which it finds by their
    /// routes.
    package static let fleet = LeaseFleet<GatewayID>(
        timeToLive: .seconds(10), interval: .seconds(2), lease: KeySpace.lease, subject: Subject.gateway,
        members: KeySpace.gateways, records: KeySpace.gatewayRecords, watcher: .presence, timerWord: "gateway")
}

extension BridgeID: LeaseHolder {
    /// The leases of sip-bridges: the invitation service ends the calls of a lost bridge, at most 10 s after the bridge died.
    package static let fleet = LeaseFleet<BridgeID>(
        timeToLive: .seconds(8), interval: .seconds(1), lease: KeySpace.bridgeLease, subject: Subject.bridge,
        members: KeySpace.bridges, records: KeySpace.bridgeRecords, watcher: .invitation, timerWord: "bridge")
}
