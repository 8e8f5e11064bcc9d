/// Which of the Sentinels' answers to believe; no I/O.
///
/// A Sentinel that was cut off from the others, or has not yet heard of a failover, names a former master. Its epoch is
/// smaller than that of an answer seen before.
struct MasterChoice: Sendable, Equatable {
    private let patience: Int
    /// The largest epoch seen.
    private var epoch: Int64?
    /// The outdated answers since the last one that was not.
    private var outdated = 0

    /// - Parameter sentinels: the number of Sentinels. After twice as many outdated answers with no other in between an
    ///   outdated one is believed: the Sentinels were set up anew, and count from 0 again.
    init(sentinels: Int) { patience = 2 * sentinels }

    /// Whether to use an answer.
    mutating func accepts(_ naming: SentinelReplies.Naming) -> Bool {
        if let epoch, naming.epoch < epoch, outdated < patience {
            outdated += 1
            return false
        }
        epoch = naming.epoch
        outdated = 0
        return true
    }
}
