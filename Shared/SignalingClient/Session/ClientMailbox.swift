/// How far the mailbox was processed and acknowledged: each entry is taken once. Source: wire protocol, sections 5 and 12.18.
struct ClientMailbox {
    /// The highest version that was handed to the app.
    private(set) var processed: Int64 = 0
    private var acknowledged: Int64 = 0
    /// Entries since the last acknowledgement.
    private var count = 0
    /// When the next acknowledgement is due, ms.
    private var due = Int64.max
    /// The number of the `user_getmsg` (acknowledgement or poll) that was not answered yet.
    private(set) var outstandingPoll: Int64?

    /// Whether something waits for its acknowledgement.
    var isPending: Bool { processed > acknowledged }

    /// Takes an entry.
    /// - Parameter wait: how long the entry may wait for its acknowledgement, ms.
    /// - Returns: whether it is new; one that came again is dropped.
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

    /// A `user_getmsg` is sent, which acknowledges all that was processed.
    mutating func polled(_ id: Int64) {
        outstandingPoll = id
        acknowledged = processed
        count = 0
        due = .max
    }

    /// The poll was answered.
    mutating func pollAnswered() { outstandingPoll = nil }

    /// The connection is gone; whether the last acknowledgement arrived is not known, so it is repeated.
    mutating func connectionLost(now: Int64) {
        outstandingPoll = nil
        guard processed > 0 else { return }
        acknowledged = 0
        due = now
    }
}
