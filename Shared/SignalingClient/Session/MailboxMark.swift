/// How far the mailbox was processed and acknowledged: each entry once. Source: wire protocol, sections 5 and 12.18.
struct MailboxMark {
    /// The highest version that was handed to the app.
    private(set) var processed: Int64 = 0
    private var acknowledged: Int64 = 0
    private var count = 0
    private var due = Int64.max

    /// Whether something waits for its acknowledgement.
    var isPending: Bool { processed > acknowledged }

    /// Takes an entry.
    /// - Returns: whether it is new; one that came again is dropped.
    mutating func take(_ version: Int64, now: Int64, within wait: Int64) -> Bool {
        guard version > processed else { return false }
        processed = version
        count += 1
        due = min(due, now + wait)
        return true
    }

    /// Whether to acknowledge now.
    func isDue(now: Int64, bound: Int) -> Bool { isPending && (count >= bound || now >= due) }

    /// The acknowledgement was sent.
    mutating func acknowledge() {
        acknowledged = processed
        count = 0
        due = .max
    }

    /// The connection is gone; it is not known whether the last acknowledgement arrived.
    mutating func connectionLost(now: Int64) {
        guard processed > 0 else { return }
        acknowledged = 0
        due = now
    }
}
