package import SignalingProtocol

/// The id of a process that shows by a lease that it is alive: a gateway's or a sip-bridge's.
package protocol LeaseHolder: ByteIdentifier {
    /// Uses an id that one of our own processes made; it is not validated.
    init(_ rawValue: String)
    /// The leases of all processes of this kind.
    static var fleet: LeaseFleet<Self> { get }
}

/// Where one of a holder's leases is.
package struct LeasePlace: Hashable, Sendable {
    /// The lease's number among those of its holder, from 0.
    package let number: Int
    /// The key of the lease.
    package let key: String
    /// The slot of that key.
    package let slot: UInt16
    /// The partition of the timer of this lease's watcher.
    package let partition: BusPartition
}

/// The leases of one kind of process: their keys, their times, and the service that acts when they end.
///
/// What concerns a lease is in three places, which may be three servers: the lease itself, at a key of its
/// own; its watcher's timer; and the list of the kind's living processes. Each heartbeat renews all three,
/// and none of them needs another.
///
/// On a single Redis a holder has one lease. In a cluster it may have several, each with a timer, at slots so far from
/// each other that they are at different masters: then it is alive while more than half of them are, and one master
/// that is away, or cannot be reached from the holder only, ends nothing.
package struct LeaseFleet<Holder: LeaseHolder>: Sendable {
    /// How long a lease lives after a heartbeat.
    package let timeToLive: Duration
    /// How long the lease's key outlives the lease, so that the watcher learns the time of the last heartbeat, even
    /// when it looks late. A lease is alive while its key has more than this to live.
    package var keptAfterEnd: Duration { .seconds(12 * 3600) }
    /// The time from the end of a lease to the watcher's check: a check in the lease's last
    /// millisecond would find it alive.
    package var margin: Duration { .milliseconds(10) }
    /// The time from a heartbeat to the watcher's check.
    package var watchDelay: Duration { timeToLive + margin }
    /// The time between heartbeats.
    package let interval: Duration
    /// The number of leases of a holder in a cluster: odd, so that more than half of them is less than all but one.
    package let leasesInCluster: Int
    /// The key of a holder's first lease.
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

    /// The number of leases that a holder has.
    package func leases(in bus: BusLayout) -> Int { bus.flavour == .single ? 1 : leasesInCluster }

    /// The places of a holder's leases: the first at the holder's own tag, the others in the slots of partitions that
    /// are as far from the first one's, and from each other, as can be. With three masters or more, each of which has
    /// whole partitions and as many as the others, no two are at one master.
    package func places(of holder: Holder, in bus: BusLayout) -> [LeasePlace] {
        let slot = KeySpace.slot(of: subject(holder))
        let own = bus.partition(ofSlot: slot)
        let first = LeasePlace(number: 0, key: lease(holder), slot: slot, partition: own)
        let (all, count) = (bus.partitions, leases(in: bus))
        return [first]
            + (1..<count).map { number in
                let partition = all[(own.number + number * all.count / count) % all.count]
                let key = KeySpace.lease("\(timerWord):\(holder.rawValue):\(number)", in: partition)
                return LeasePlace(number: number, key: key, slot: partition.slot, partition: partition)
            }
    }
}

extension GatewayID: LeaseHolder {
    /// The leases of gateways, which each shard has: presence detaches the sessions of a lost gateway,
    /// which it finds by their routes.
    package static let fleet = LeaseFleet<GatewayID>(
        timeToLive: .seconds(10), interval: .seconds(2), leasesInCluster: 3,
        lease: { KeySpace.lease($0) }, subject: Subject.gateway,
        members: KeySpace.gateways, records: KeySpace.gatewayRecords, watcher: .presence, timerWord: "gateway")
}

extension BridgeID: LeaseHolder {
    /// The leases of sip-bridges: the invitation service ends the calls of a lost bridge, at
    /// most 10 s after the bridge died.
    package static let fleet = LeaseFleet<BridgeID>(
        timeToLive: .seconds(8), interval: .seconds(1), leasesInCluster: 1,
        lease: KeySpace.bridgeLease, subject: Subject.bridge,
        members: KeySpace.bridges, records: KeySpace.bridgeRecords, watcher: .invitation, timerWord: "bridge")
}
