internal import GatewayLogic

/// Bytes that wait for all clients of a shard together, and their bound.
final class OutputBudget {
    /// Which bound was hit.
    enum Bound: String {
        /// The connection's own.
        case connection
        /// That of all together; this client had most.
        case all
    }

    private let bound: Int
    private(set) var waiting = 0
    private var outlets: [ObjectIdentifier: FrameOutlet] = [:]
    private var isCutting = false

    init(bound: Int) { self.bound = bound }

    /// A write waits.
    func queued(_ cost: Int, for outlet: FrameOutlet) {
        waiting += cost
        outlets[ObjectIdentifier(outlet)] = outlet
    }

    /// Cuts off the clients with the most waiting bytes while the total is over the bound.
    func judge() {
        guard waiting > bound, !isCutting else { return }
        isCutting = true
        defer { isCutting = false }
        // A client that is cut off frees its bytes at once; stop if it does not, rather than cut off everybody.
        while waiting > bound, case let before = waiting, let largest {
            largest.full(.all)
            if waiting >= before { return }
        }
    }

    /// A write was finished.
    func written(_ cost: Int, for outlet: FrameOutlet) {
        waiting -= cost
        if outlet.output.waiting <= cost { outlets[ObjectIdentifier(outlet)] = nil }
    }

    private var largest: FrameOutlet? { outlets.values.max { $0.output.waiting < $1.output.waiting } }
}
