internal import Synchronization

/// The gateway's event loops, used in turn.
final class APIShards: Sendable {
    private let shards: [APIShard]
    private let turn = Atomic<Int>(0)

    /// - Parameter shards: at least one.
    init(_ shards: [APIShard]) { self.shards = shards }

    func next() -> APIShard {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
        return shards[Int(turn.magnitude % UInt(shards.count))]
    }
}
