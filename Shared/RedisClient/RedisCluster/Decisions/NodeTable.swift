internal import NIOCore

/// The number of a node in a ``ClusterStateMachine``. A dropped node's number may be given to another.
typealias NodeNumber = UInt16

/// The nodes with which connections are kept.
struct NodeTable: Sendable {
    enum Link: Sendable, Equatable {
        /// Being opened, for the first time or again.
        case opening
        /// Usable.
        case up
        /// Connected, but nothing has come for a while though answers are due.
        case silent
    }

    struct Node: Sendable, Equatable {
        let address: NodeAddress
        var link = Link.opening
        /// Until when the node is kept though it owns nothing; nil while it owns something.
        var keptUntil: NIODeadline?
    }

    /// By number; nil for a number that is free.
    private var nodes: [Node?] = []
    private var numbers: [NodeAddress: NodeNumber] = [:]
    /// Whether commands may be sent to the node; by number. An array of its own, since every command reads it.
    private var ready: [Bool] = []
    /// Whether commands are held back from all nodes.
    private(set) var isSuspended = false

    /// The number of nodes.
    var count: Int { numbers.count }

    /// Whether commands may be sent to a node.
    func isReady(_ number: NodeNumber) -> Bool { ready[Int(number)] }

    /// The node; nil when it has been dropped.
    subscript(_ number: NodeNumber) -> Node? { Int(number) < nodes.count ? nodes[Int(number)] : nil }

    /// The number of the node at an address.
    func number(of address: NodeAddress) -> NodeNumber? { numbers[address] }

    /// All numbers in use, in ascending order.
    var all: [NodeNumber] { nodes.indices.lazy.filter { nodes[$0] != nil }.map { NodeNumber($0) } }

    /// Adds a node, whose address must not be in the table.
    mutating func add(_ address: NodeAddress) -> NodeNumber {
        let number: NodeNumber
        if let free = nodes.firstIndex(of: nil) {
            number = NodeNumber(free)
            nodes[free] = Node(address: address)
            ready[free] = false
        } else {
            number = NodeNumber(nodes.count)
            nodes.append(Node(address: address))
            ready.append(false)
        }
        numbers[address] = number
        return number
    }

    mutating func remove(_ number: NodeNumber) {
        guard let node = self[number] else { return }
        numbers[node.address] = nil
        nodes[Int(number)] = nil
        ready[Int(number)] = false
    }

    /// Changes the state of a node's link.
    /// - Returns: false when it was in that state already, or the node has been dropped.
    mutating func set(_ number: NodeNumber, _ link: Link) -> Bool {
        guard let node = self[number], node.link != link else { return false }
        nodes[Int(number)]?.link = link
        ready[Int(number)] = link == .up && !isSuspended
        return true
    }

    /// Holds commands back from all nodes, or no longer.
    mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
        for (index, node) in nodes.enumerated() { ready[index] = node?.link == .up && !isSuspended }
    }

    /// Says until when a node is kept though it owns nothing; see ``Node/keptUntil``.
    mutating func keep(_ number: NodeNumber, until time: NIODeadline?) { nodes[Int(number)]?.keptUntil = time }
}
