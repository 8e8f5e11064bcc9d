internal import ClusterState

/// A contiguous range of slots.
package typealias SlotRange = ClosedRange<UInt16>

/// Which master owns each slot of a cluster.
package struct SlotMap: Sendable, Equatable {
    /// A server that owns slots, and its copies.
    package struct Master: Sendable, Equatable {
        package let address: NodeAddress
        /// Without those whose address the cluster does not know.
        package var replicas: [NodeAddress]
    }

    /// The owner of a slot that no master serves.
    static let unowned = UInt16.max

    /// The masters that own at least one slot, in the order of their first slots.
    package private(set) var masters: [Master] = []
    /// By slot: an index of ``masters``, or ``unowned``.
    private(set) var owners = [UInt16](repeating: Self.unowned, count: KeySlot.count)
    /// The number of slots that are owned.
    private var owned = 0

    /// A map without masters.
    package init() {}

    /// The map of a server that is no part of a cluster: it owns all slots.
    init(single address: NodeAddress) {
        masters = [Master(address: address, replicas: [])]
        owners = [UInt16](repeating: 0, count: KeySlot.count)
        owned = KeySlot.count
    }

    /// Adds a master.
    /// - Returns: its index.
    mutating func add(_ master: Master) -> UInt16 {
        masters.append(master)
        return UInt16(masters.count - 1)
    }

    /// Adds replicas to a master, each once.
    mutating func add(_ replicas: [NodeAddress], to master: UInt16) {
        for replica in replicas where !masters[Int(master)].replicas.contains(replica) {
            masters[Int(master)].replicas.append(replica)
        }
    }

    /// Gives slots to a master.
    /// - Returns: false, with nothing changed, when one of them is owned.
    mutating func assign(_ range: SlotRange, to master: UInt16) -> Bool {
        guard range.allSatisfy({ owners[Int($0)] == Self.unowned }) else { return false }
        for slot in range { owners[Int(slot)] = master }
        owned += range.count
        return true
    }

    /// Gives one slot to a master, which is added if it is new.
    mutating func move(_ slot: UInt16, to address: NodeAddress) {
        if owners[Int(slot)] == Self.unowned { owned += 1 }
        let known = masters.firstIndex { $0.address == address }.map { UInt16($0) }
        owners[Int(slot)] = known ?? add(Master(address: address, replicas: []))
    }

    /// The address of a slot's owner; nil when the slot is not served.
    func owner(of slot: UInt16) -> NodeAddress? {
        let owner = owners[Int(slot)]
        return owner == Self.unowned ? nil : masters[Int(owner)].address
    }

    /// Whether every slot is served.
    var isComplete: Bool { owned == KeySlot.count }

    /// The slots that no master serves.
    var uncovered: [SlotRange] { Self.ranges { owners[Int($0)] == Self.unowned } }

    /// What is different from an earlier map. Masters are the same if their addresses are.
    func changes(since old: SlotMap) -> SlotMapChanges {
        let before = old.masters.map(\.address)
        let after = masters.map(\.address)
        // The index in `old` of each master of this map, so that slots are compared by number.
        let places = Dictionary(before.enumerated().map { ($1, UInt16($0)) }) { first, _ in first }
        let previous = after.map { places[$0] }
        let moved = Self.ranges { slot in
            let now = owners[Int(slot)]
            let was = old.owners[Int(slot)]
            return now == Self.unowned ? was != Self.unowned : previous[Int(now)] != was
        }
        let remaining = Set(after)
        return SlotMapChanges(
            moved: moved, new: after.filter { places[$0] == nil }, gone: before.filter { !remaining.contains($0) })
    }

    /// The ranges of slots that meet a condition.
    package static func ranges(where condition: (UInt16) -> Bool) -> [SlotRange] {
        var ranges: [SlotRange] = []
        var start: UInt16?
        for slot in 0..<UInt16(KeySlot.count) {
            if condition(slot) {
                if start == nil { start = slot }
            } else if let first = start {
                ranges.append(first...slot - 1)
                start = nil
            }
        }
        if let start { ranges.append(start...UInt16(KeySlot.count - 1)) }
        return ranges
    }
}

/// The differences between two maps.
struct SlotMapChanges: Sendable, Equatable {
    /// The slots that have another owner, or have one no longer, or at last.
    var moved: [SlotRange]
    /// Masters that owned nothing before.
    var new: [NodeAddress]
    /// Masters that own nothing any more.
    var gone: [NodeAddress]

    var isEmpty: Bool { moved.isEmpty && new.isEmpty && gone.isEmpty }
}
