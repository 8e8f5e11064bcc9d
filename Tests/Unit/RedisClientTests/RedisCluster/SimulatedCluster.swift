@testable import RedisClient

/// Nodes of a Redis Cluster as far as a client notices them: who owns a slot, migrations, failures. Requests wait in a
/// queue per node until ``process(_:)``.
///
/// A node never begins to accept a slot while commands of that slot are on their way to it or back: see the case that
/// ``ClusterStateMachine`` leaves open.
struct SimulatedCluster {
    /// A command on its way.
    struct Request {
        let command: ClusterCommand
        /// The key of a command that is not fenced.
        let key: Int
        let asking: Bool
    }

    enum Reply {
        case done
        case refused(String)
    }

    struct Node {
        var requests: [Request] = []
        var replies: [(request: Request, reply: Reply)] = []
        /// Whether it answers nothing, be it dead or only slow.
        var isFrozen = false
        /// An error with which it refuses everything.
        var trouble: String?
    }

    struct Migration {
        let target: Int
        var movedKeys: Set<Int> = []
    }

    static let names = ["a", "b", "c", "d"]
    static let slots: [UInt16] = [0, 1, 5, 9000, 12_000, 16_383]
    static let keys = 0..<3

    var nodes = [Node](repeating: Node(), count: names.count)
    private(set) var owner: [UInt16: Int]
    private(set) var migrations: [UInt16: Migration] = [:]
    /// The commands that each slot has carried out, in order, and the node; one that was repeated only once.
    private(set) var log: [UInt16: [Request]] = [:]
    /// How often something other than acceptance was answered.
    private(set) var refusals = 0

    init() {
        owner = Dictionary(uniqueKeysWithValues: Self.slots.enumerated().map { ($1, $0 % 3) })
    }

    /// What CLUSTER SLOTS replies. The slots without commands belong to the owner of slot 0.
    var map: SlotMap {
        var map = SlotMap()
        var next: UInt16 = 0
        func give(_ range: SlotRange, to node: Int) {
            let address = Conversation.address(Self.names[node])
            let known = map.masters.firstIndex { $0.address == address }.map { UInt16($0) }
            _ = map.assign(range, to: known ?? map.add(.init(address: address, replicas: [])))
        }
        for slot in Self.slots {
            if next < slot { give(next...slot - 1, to: owner[0]!) }
            give(slot...slot, to: owner[slot]!)
            next = slot &+ 1
        }
        return map
    }

    /// Whether no command of a slot is on its way to or from a node.
    /// - Parameter countsAsking: whether those that follow ASK count.
    private func isClear(_ node: Int, _ slot: UInt16, countsAsking: Bool = true) -> Bool {
        (nodes[node].requests + nodes[node].replies.map(\.request)).allSatisfy {
            $0.command.slot != slot || $0.asking && !countsAsking
        }
    }

    /// Moves a slot in one step, as a failover does.
    mutating func move(_ slot: UInt16, to node: Int) {
        guard migrations[slot] == nil, owner[slot] != node, isClear(node, slot) else { return }
        owner[slot] = node
    }

    mutating func beginMigration(_ slot: UInt16, to node: Int) {
        guard migrations[slot] == nil, owner[slot] != node else { return }
        migrations[slot] = Migration(target: node)
    }

    mutating func moveKey(_ key: Int, of slot: UInt16) { migrations[slot]?.movedKeys.insert(key) }

    mutating func endMigration(_ slot: UInt16, isCancelled: Bool) {
        guard let migration = migrations[slot] else { return }
        guard isCancelled else {
            guard isClear(migration.target, slot, countsAsking: false) else { return }
            owner[slot] = migration.target
            migrations[slot] = nil
            return
        }
        if isClear(owner[slot]!, slot), isClear(migration.target, slot) { migrations[slot] = nil }
    }

    /// Has a node refuse everything, or no longer.
    mutating func setTrouble(_ trouble: String?, of node: Int) {
        if trouble != nil || nodes[node].requests.isEmpty && nodes[node].replies.isEmpty {
            nodes[node].trouble = trouble
        }
    }

    /// Carries out a node's next request.
    mutating func process(_ node: Int) {
        guard !nodes[node].isFrozen, !nodes[node].requests.isEmpty else { return }
        let request = nodes[node].requests.removeFirst()
        let reply = answer(request, at: node)
        if case .refused = reply { refusals += 1 }
        nodes[node].replies.append((request, reply))
    }

    private mutating func answer(_ request: Request, at node: Int) -> Reply {
        let slot = request.command.slot
        let isFenced = request.command.traits.isFenced
        if let trouble = nodes[node].trouble { return .refused("\(trouble) x") }
        let migration = migrations[slot]
        if owner[slot] == node {
            guard let migration, isFenced || migration.movedKeys.contains(request.key) else { return carryOut(request) }
            return .refused("ASK \(slot) \(Self.names[migration.target]):1")
        }
        if request.asking, migration?.target == node {
            return isFenced ? .refused("TRYAGAIN x") : carryOut(request)
        }
        return .refused("MOVED \(slot) \(Self.names[owner[slot]!]):1")
    }

    private mutating func carryOut(_ request: Request) -> Reply {
        let slot = request.command.slot
        let isRepetition = log[slot, default: []].contains { $0.command == request.command }
        if !isRepetition || !request.command.traits.isRepeatable { log[slot, default: []].append(request) }
        return .done
    }
}
