internal import SignalingProtocol

/// The topics that a subscriber wants and those that the server has confirmed; no I/O.
///
/// The server confirms requests in order. So counting the unconfirmed requests of each topic tells which request a
/// confirmation belongs to, even when a topic is dropped and wanted again in between.
struct SubscriptionTable<Waiter> {
    private struct Topic {
        var isWanted = true
        /// The number of SUBSCRIBE requests sent on this connection and not confirmed.
        var outstanding = 0
        var waiters: [Waiter] = []
    }

    /// Compared by bytes, as in Redis: Swift treats strings that Unicode considers equivalent as equal.
    private struct Name: ByteIdentifier {
        let rawValue: String
    }

    private var topics: [Name: Topic] = [:]
    private(set) var wantedCount = 0
    /// The number of unconfirmed SUBSCRIBE requests of all topics on this connection.
    private(set) var outstanding = 0
    private var waiterCount = 0

    /// Whether the topic's messages are wanted.
    func isWanted(_ topic: String) -> Bool { topics[Name(rawValue: topic)]?.isWanted ?? false }

    /// All wanted topics.
    var wanted: [String] { topics.filter { $0.value.isWanted }.map(\.key.rawValue) }

    /// What to do when a topic is wanted.
    enum SubscribeStep: Equatable {
        /// Nothing: the topic is confirmed.
        case confirmed
        /// Wait: SUBSCRIBE has been sent, or will be when the connection is up.
        case wait
        /// Send SUBSCRIBE, report it with ``sent(_:)``, then wait.
        case subscribe
    }

    mutating func want(_ topic: String, isUp: Bool, waiter: Waiter) -> SubscribeStep {
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

    /// Records that SUBSCRIBE was sent.
    mutating func sent(_ topic: String) {
        let topic = Name(rawValue: topic)
        topics[topic]?.outstanding += 1
        outstanding += 1
    }

    /// Records that a SUBSCRIBE was confirmed.
    /// - Returns: the waiters of the topic, once its last outstanding request is confirmed.
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

    /// Records that a topic is no longer wanted.
    /// - Returns: the topic's remaining waiters; nil when it was not wanted.
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

    /// Removes and returns the waiters that meet a condition.
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

    /// Records that the connection is lost: nothing is confirmed any more, and wanted topics stay wanted.
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
