package import SignalingProtocol

/// One of the parts of the bus: a service's streams, timers and mirror for what lies in a range of slots.
package struct BusPartition: Hashable, Sendable {
    /// The partition's number, from 0.
    package let number: Int
    /// The slot of the partition's keys and topics. Without meaning on a single Redis.
    package let slot: UInt16
    /// The hash tag of its keys and topics, in braces; nil on a single Redis, whose only partition needs none.
    let tag: String?

    /// The whole bus of a single Redis.
    package static let whole = BusPartition(number: 0, slot: 0, tag: nil)

    /// The place of a sip-bridge's own stream.
    package static func bridge(_ bridge: BridgeID) -> BusPartition {
        let tag = KeySpace.bridgeTag(bridge)
        return BusPartition(number: 0, slot: KeySlot.of(tag), tag: tag)
    }

    /// Whether it is the only partition, that of a single Redis.
    var isWhole: Bool { tag == nil }

    /// The name of a key of which each partition has one.
    func named(_ name: String) -> String { tag.map { "\(name):\($0)" } ?? name }
}

/// The bus of a Redis: which partition is responsible for what, and the topics of processes.
package struct BusLayout: Hashable, Sendable {
    /// Whether Redis is one server or a cluster.
    package let flavour: RedisLayout.Flavour
    /// All partitions, by number.
    package let partitions: [BusPartition]

    /// The bus of a single Redis: one partition, whose keys have no tag.
    package static let single = BusLayout(flavour: .single, partitions: [.whole])

    /// The number of partitions in a cluster: a multiple of 2, 3, 4, 6, 8 and 12, so that with so many masters the
    /// slots of a partition are on one of them.
    package static let clusterPartitions = 24

    /// The bus of a Redis Cluster.
    /// - Parameter partitions: 1 to ``Buckets/count``; a multiple of the number of masters.
    package static func cluster(partitions: Int = clusterPartitions) -> BusLayout {
        let ranges = Partitions(count: partitions)
        return BusLayout(
            flavour: .cluster,
            partitions: (0..<partitions).map { number in
                let bucket = ranges.bucket(ofPartition: number)
                return BusPartition(
                    number: number, slot: Buckets.slot(ofBucket: bucket), tag: "{\(Buckets.shared.tag(bucket))}")
            })
    }

    private init(flavour: RedisLayout.Flavour, partitions: [BusPartition]) {
        self.flavour = flavour
        self.partitions = partitions
    }

    /// The layout of keys that goes with this bus.
    package var redis: RedisLayout {
        var layout = RedisLayout.current
        layout.flavour = flavour
        layout.partitions = partitions.count
        return layout
    }

    /// The command that publishes on a topic.
    package var publishing: String {
        switch flavour {
        case .single: "PUBLISH"
        case .cluster: "SPUBLISH"
        }
    }

    /// The partition that is responsible for a slot.
    package func partition(ofSlot slot: UInt16) -> BusPartition {
        partitions[Partitions(count: partitions.count).partition(ofSlot: slot)]
    }

    /// The partition that is responsible for a subject, which is not looked at where there is only one.
    package func partition(of subject: @autoclosure () -> Subject) -> BusPartition {
        partitions.count == 1 ? partitions[0] : partition(ofSlot: KeySpace.slot(of: subject()))
    }

    /// All topics on which a gateway hears what is meant for it: in a cluster one in each bucket's slot, because a
    /// function can publish only in the slot that it works on.
    package func topics(of gateway: GatewayID) -> [String] {
        switch flavour {
        case .single: [KeySpace.topic(gateway)]
        case .cluster: (0..<Buckets.count).map { KeySpace.topic(gateway, bucket: $0) }
        }
    }

    /// The topic on which a gateway hears what concerns a user.
    package func topic(of gateway: GatewayID, for user: UserKey) -> String {
        switch flavour {
        case .single: KeySpace.topic(gateway)
        case .cluster: KeySpace.topic(gateway, bucket: Buckets.bucket(of: KeySpace.name(user)))
        }
    }

    /// All topics on which a sip-bridge hears the replies to its commands: in a cluster one for each partition.
    package func topics(of bridge: BridgeID) -> [String] { partitions.map { KeySpace.topic(.bridge(bridge), in: $0) } }
}
