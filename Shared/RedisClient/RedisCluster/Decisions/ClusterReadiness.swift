/// How much of Redis can be used.
struct ClusterReadiness: Sendable, Equatable {
    /// The masters of the map; 0 before it is known.
    let masters: Int
    /// The masters that do not answer.
    let away: [NodeAddress]
    /// The slots that nobody serves.
    let uncovered: [SlotRange]
    /// Why the map could not be read the last time; nil when it could.
    let lastFailure: RedisError?

    /// Whether the map is known and more than half of the masters answer.
    var isReady: Bool { (masters - away.count) * 2 > masters }
}
