/// Tracks which mailbox entries were processed and acknowledged, so that each is taken once. Source:
/// `Docs/protocol.md`, "The mailbox".
struct ClientMailbox {
    /// The highest version that was passed to the app.
    private(set) var processed: Int64 = 0
    private var acknowledged: Int64 = 0
    /// The number of entries since the last acknowledgement.
    private var count = 0
    /// When the next acknowledgement is due, in ms.
    private var due = Int64.max
    /// The id of the `user_getmsg` call (an acknowledgement or poll) that is not answered yet.
    private(set) var outstandingPoll: Int64?

    /// Whether entries wait to be acknowledged.
    var isPending: Bool { processed > acknowledged }

    /// Takes an entry.
    /// - Parameter wait: how long the entry may wait for its acknowledgement, in ms.
    /// - Returns: whether it is new; a repeated one must be dropped.
    mutating func take(_ version: Int64, now: Int64, within wait: Int64) -> Bool {
        guard version > processed else { return false }
        processed = version
        count += 1
        due = min(due, now + wait)
        return true
    }

    /// Whether to acknowledge now: after `bound` entries, or when the oldest has waited long enough.
    func isDue(now: Int64, bound: Int) -> Bool {
        isPending && outstandingPoll == nil && (count >= bound || now >= due)
    }

    /// Records that a `user_getmsg` is sent, which acknowledges everything processed so far.
    mutating func polled(_ id: Int64) {
        outstandingPoll = id
        acknowledged = processed
        count = 0
        due = .max
    }

    /// The poll was answered.
    mutating func pollAnswered() { outstandingPoll = nil }

    /// Called when the connection is lost: the last acknowledgement may not have arrived, so it is repeated.
    mutating func connectionLost(now: Int64) {
        outstandingPoll = nil
        guard processed > 0 else { return }
        acknowledged = 0
        due = now
    }
}
