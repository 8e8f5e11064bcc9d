internal import SignalingProtocol

/// Which topics a subscriber wants and which the server has confirmed; pure.
///
/// Confirmations come in the order of the requests, so counting those outstanding per topic tells which request one
/// confirms, also when a topic is dropped and wanted again in between.
struct SubscriptionTable<Waiter> {
    private struct Topic {
        var isWanted = true
        /// SUBSCRIBEs sent on this connection and not confirmed.
        var outstanding = 0
        var waiters: [Waiter] = []
    }

    /// Names that differ only in how Unicode spells them are different topics to Redis.
    private struct Name: ByteIdentifier {
        let rawValue: String
    }

    private var topics: [Name: Topic] = [:]
    private(set) var wantedCount = 0
    /// SUBSCRIBEs of all topics sent on this connection and not confirmed.
    private(set) var outstanding = 0
    private var waiterCount = 0

    /// Whether messages of the topic are asked for.
    func isWanted(_ topic: String) -> Bool { topics[Name(rawValue: topic)]?.isWanted ?? false }

    /// Every wanted topic.
    var wanted: [String] { topics.filter { $0.value.isWanted }.map(\.key.rawValue) }

    /// What to do for one who wants a topic.
    enum Want: Equatable {
        /// It is confirmed already.
        case confirmed
        /// Someone asked before: wait for the answer.
        case wait
        /// Send SUBSCRIBE, then wait; counted with ``sent(_:)``.
        case subscribe
    }

    mutating func want(_ topic: String, isUp: Bool, waiter: Waiter) -> Want {
        let topic = Name(rawValue: topic)
        guard var entry = topics[topic] else {
            topics[topic] = Topic(waiters: [waiter])
            wantedCount += 1
            waiterCount += 1
            return isUp ? .subscribe : .wait
        }
        if entry.isWanted, entry.outstanding == 0, isUp, entry.waiters.isEmpty { return .confirmed }
        let wasWanted = entry.isWanted
        if !wasWanted { wantedCount += 1 }
        entry.isWanted = true
        entry.waiters.append(waiter)
        waiterCount += 1
        topics[topic] = entry
        return wasWanted || !isUp ? .wait : .subscribe
    }

    /// A SUBSCRIBE was sent.
    mutating func sent(_ topic: String) {
        let topic = Name(rawValue: topic)
        topics[topic]?.outstanding += 1
        outstanding += 1
    }

    /// A SUBSCRIBE was confirmed.
    /// - Returns: those who waited for just this one.
    mutating func confirmed(_ topic: String) -> [Waiter] {
        let topic = Name(rawValue: topic)
        guard var entry = topics[topic], entry.outstanding > 0 else { return [] }
        outstanding -= 1
        entry.outstanding -= 1
        guard entry.outstanding == 0 else {
            topics[topic] = entry
            return []
        }
        let waiters = entry.waiters
        waiterCount -= waiters.count
        entry.waiters = []
        topics[topic] = entry.isWanted ? entry : nil
        return entry.isWanted ? waiters : []
    }

    /// The topic is wanted no more.
    /// - Returns: nil when it was not wanted; else those who still waited.
    mutating func drop(_ topic: String) -> [Waiter]? {
        let topic = Name(rawValue: topic)
        guard var entry = topics[topic], entry.isWanted else { return nil }
        wantedCount -= 1
        let waiters = entry.waiters
        waiterCount -= waiters.count
        entry.isWanted = false
        entry.waiters = []
        topics[topic] = entry.outstanding > 0 ? entry : nil
        return waiters
    }

    /// Takes out the waiters that meet a condition, with their topics.
    mutating func removeWaiters(where condition: (Waiter) -> Bool) -> [Waiter] {
        guard waiterCount > 0 else { return [] }
        var removed: [Waiter] = []
        for (topic, entry) in topics where entry.waiters.contains(where: condition) {
            removed.append(contentsOf: entry.waiters.filter(condition))
            waiterCount -= entry.waiters.count(where: condition)
            topics[topic]?.waiters.removeAll(where: condition)
        }
        return removed
    }

    /// The connection is gone: nothing is confirmed, what is wanted stays wanted.
    mutating func disconnected() {
        outstanding = 0
        topics = topics.compactMapValues { entry in
            guard entry.isWanted else { return nil }
            var entry = entry
            entry.outstanding = 0
            return entry
        }
    }
}
