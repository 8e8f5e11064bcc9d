internal import GatewayLogic

/// What waits for all clients of a shard together. Loop-bound.
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

    /// Cuts off those with most, where all together have too much.
    func judge() {
        guard waiting > bound, !isCutting else { return }
        isCutting = true
        defer { isCutting = false }
        // Those that are cut off are gone at once; were one not, the next would not help either.
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
