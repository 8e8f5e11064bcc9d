package import ClusterState
package import RedisClient
package import SignalingProtocol

/// How Redis is doing, as its servers and Sentinels say when an operator asks.
package struct RedisInspection: Sendable, Equatable {
    /// A server or Sentinel that does not answer, or not in a usable way.
    package struct Silence: Sendable, Equatable {
        package let address: NodeAddress
        package let why: String
    }

    package let flavour: RedisFlavour
    /// The servers that answer: in a cluster the masters in the order of their slots, otherwise the
    /// one master; then the replicas.
    package internal(set) var servers: [ServerState] = []
    /// The Sentinels that answer.
    package internal(set) var sentinels: [SentinelState] = []
    package internal(set) var silent: [Silence] = []
    /// The partitions of the bus.
    package internal(set) var partitions: [PartitionState] = []
    /// What is to be said of a master and replicas that Sentinels watch.
    var sentinelAdvice: [String] = []

    init(flavour: RedisFlavour) { self.flavour = flavour }

    /// Puts the masters first, in the order of their slots.
    mutating func order() {
        let first = Dictionary(
            servers.map { ($0.address, slots(of: $0).first.map { Int($0.lowerBound) } ?? KeySlot.count) },
            uniquingKeysWith: min)
        servers.sort { left, right in
            let (leftPlace, rightPlace) = (first[left.address] ?? 0, first[right.address] ?? 0)
            if left.isMaster != right.isMaster { return left.isMaster }
            if leftPlace != rightPlace { return leftPlace < rightPlace }
            return left.address.description < right.address.description
        }
    }

    package var masters: [ServerState] { servers.filter(\.isMaster) }

    /// The replicas of a master.
    package func replicas(of master: ServerState) -> [ServerState] {
        servers.filter { replica in
            // Others learn late whose replica a server is.
            guard let view = replica.view, let known = view.nodes.first(where: { $0.id == view.own }) else {
                return flavour == .sentinel && !replica.isMaster
            }
            return known.master != nil && known.master == master.view?.own
        }
    }

    /// The replicas whose master does not answer.
    package var orphans: [ServerState] {
        let followers = Set(masters.flatMap { replicas(of: $0) }.map(\.address))
        return servers.filter { !$0.isMaster && !followers.contains($0.address) }
    }

    /// How many bytes a replica has still to receive. The two were asked at about the same time, not at the same.
    package func lag(of replica: ServerState, behind master: ServerState) -> Int64 {
        max(0, master.offset - replica.offset)
    }

    /// The cluster as most servers see it; nil without a cluster.
    package var view: ClusterView? {
        let views = servers.compactMap(\.view)
        let counts = Dictionary(views.map { ($0.distribution, 1) }, uniquingKeysWith: +)
        return views.first { counts[$0.distribution] == counts.values.max() }
    }

    /// The slots of a master. A single master has all, though they mean nothing to it.
    package func slots(of master: ServerState) -> [ClosedRange<UInt16>] {
        guard let own = master.view?.own else { return flavour == .cluster ? [] : [0...UInt16(KeySlot.count - 1)] }
        return view?.nodes.first { $0.id == own }?.slots ?? []
    }

    /// The partitions whose keys a master has.
    package func partitions(of master: ServerState) -> [PartitionState] {
        let slots = slots(of: master)
        return partitions.filter { partition in slots.contains { $0.contains(partition.keySlot) } }
    }

    /// The slots that no master serves.
    package var uncovered: [ClosedRange<UInt16>] {
        guard flavour == .cluster, let owners = view?.owners else { return [] }
        return SlotMap.ranges { owners[Int($0)] == nil }
    }

    /// What to call a server that the cluster knows by an id.
    func name(of id: String) -> String {
        view?.nodes.first { $0.id == id }?.address?.description ?? id
    }
}

/// A Sentinel and what it says of the master.
package struct SentinelState: Sendable, Equatable {
    package let address: NodeAddress
    package let master: NodeAddress
    /// Grows with each failover.
    package let epoch: Int64
    /// How many Sentinels must agree that the master is down.
    package let quorum: Int64
    /// The number of replicas that it knows.
    package let replicas: Int64
    /// What it thinks of the master, such as `master` and `s_down`.
    package let flags: Set<String>
    /// Why the Sentinels could not replace the master now; nil when they could.
    package var obstacle: String?
}

/// The part of the bus for a range of slots.
package struct PartitionState: Sendable, Equatable {
    package let number: Int
    /// The slots that it is for.
    package let range: ClosedRange<UInt16>
    /// The slot of its own keys.
    package let keySlot: UInt16
    /// What its keys hold; nil when that could not be read.
    package var entries: Entries?

    /// The slots that one of `count` partitions is for, see ``Partitions/partition(ofSlot:)``.
    static func range(of number: Int, count: Int) -> ClosedRange<UInt16> {
        let first = (number * KeySlot.count + count - 1) / count
        let end = ((number + 1) * KeySlot.count + count - 1) / count
        return UInt16(first)...UInt16(end - 1)
    }

    /// What a service has to deal with.
    package enum Work: Sendable, Hashable {
        /// Commands to it.
        case commands(ServiceName)
        /// What it copies into PostgreSQL.
        case mirror(Mirror)

        /// The service.
        var service: ServiceName {
            switch self {
            case .commands(let service): service
            case .mirror(let mirror): mirror.copier
            }
        }

        /// By which findings are sorted.
        var name: String {
            switch self {
            case .commands(let service): service.rawValue
            case .mirror(let mirror): mirror.name
            }
        }
    }

    /// The lengths of its keys, of all services together where nothing else is said.
    package struct Entries: Sendable, Equatable {
        /// Commands and posts that no instance has finished.
        package var waiting: Int64 = 0
        /// Entries that no instance could handle.
        package var setAside: Int64 = 0
        /// Changes to be copied into PostgreSQL.
        package var mirrored: Int64 = 0
        /// Timers.
        package var timers: Int64 = 0
        /// For how long the oldest entry of each kind of work has waited, in milliseconds.
        package var ages: [Work: Int64] = [:]
        /// Keys with many entries, with their numbers.
        package var big: [String: Int64] = [:]
    }
}

/// A channel with so many members that its keys had better stay where they are.
package struct BigChannel: Sendable, Equatable {
    package let app: String
    package let channel: String
    package let members: Int64
    package let slot: UInt16

    package init(app: String, channel: String, members: Int64, slot: UInt16) {
        self.app = app
        self.channel = channel
        self.members = members
        self.slot = slot
    }
}
