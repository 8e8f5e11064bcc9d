internal import GatewayLogic

/// Bounds the output that waits for all clients of a shard together.
final class OutputBudget {
    /// Which bound was exceeded.
    enum Bound: String {
        /// The bound of the connection.
        case connection
        /// The bound of all connections together; this client had the most waiting output.
        case all
    }

    private let bound: Int
    private(set) var waiting = 0
    private var outlets: [ObjectIdentifier: FrameOutlet] = [:]
    private var isCutting = false

    init(bound: Int) { self.bound = bound }

    /// Records that a write waits.
    func queued(_ cost: Int, for outlet: FrameOutlet) {
        waiting += cost
        outlets[ObjectIdentifier(outlet)] = outlet
    }

    /// Disconnects the clients with the most waiting output while the total exceeds the bound.
    func enforce() {
        guard waiting > bound, !isCutting else { return }
        isCutting = true
        defer { isCutting = false }
        // Disconnecting a client frees its bytes at once; if it does not, stop rather than disconnect everyone.
        while waiting > bound, case let before = waiting, let largest {
            largest.full(.all)
            if waiting >= before { return }
        }
    }

    /// Records that a write was finished.
    func written(_ cost: Int, for outlet: FrameOutlet) {
        waiting -= cost
        if outlet.output.waiting <= cost { outlets[ObjectIdentifier(outlet)] = nil }
    }

    private var largest: FrameOutlet? { outlets.values.max { $0.output.waiting < $1.output.waiting } }
}
