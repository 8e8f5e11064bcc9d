/// The media nodes that failed twice, and are not to be given again while their lease in the cluster may still run.
struct AvoidedNodes<Node: Hashable & Sendable>: Sendable {
    /// The failures after which a node is avoided.
    static var greatestFailures: Int { 2 }
    /// How long it is avoided: longer than the 3 s of a lease. A cluster's only node is taken again then.
    static var duration: MediaInterval { .seconds(5) }
    /// The most nodes that are remembered; one more pushes out the one that failed longest ago.
    static var capacity: Int { 8 }

    private var failures: [(node: Node, count: Int, latest: MediaInstant)] = []

    /// Counts a failure of a node.
    mutating func failed(_ node: Node, now: MediaInstant) {
        forget(now: now)
        let former = failures.first { $0.node == node }?.count ?? 0
        failures.removeAll { $0.node == node }
        if failures.count == Self.capacity { failures.removeFirst() }
        failures.append((node, former + 1, now))
    }

    /// The nodes to be avoided at that time, the one that failed longest ago first.
    mutating func nodes(now: MediaInstant) -> [Node] {
        forget(now: now)
        return failures.filter { $0.count >= Self.greatestFailures }.map(\.node)
    }

    private mutating func forget(now: MediaInstant) { failures.removeAll { now - $0.latest >= Self.duration } }
}
