/// Pings, and the pongs that show that the connection is alive.
struct Heartbeat {
    private var sent: Int64 = 0
    /// Pings since the last pong.
    private var unanswered = 0
    /// When the next ping is due, ms.
    private(set) var due: Int64 = 0

    /// A connection is established.
    mutating func start(now: Int64, _ timing: ClientTiming) {
        unanswered = 0
        due = now + timing.pingInterval.milliseconds
    }

    /// The gateway has answered a ping.
    mutating func ponged() { unanswered = 0 }

    /// It is time for a ping.
    /// - Parameter isReadingPaused: pongs are not read either then, so that their absence proves nothing.
    /// - Returns: the ping's number; nil when too many were not answered: the connection is dead.
    mutating func beat(now: Int64, _ timing: ClientTiming, isReadingPaused: Bool) -> Int64? {
        if isReadingPaused { unanswered = 0 }
        guard unanswered < timing.missedPongs else { return nil }
        unanswered += 1
        sent += 1
        due = now + timing.pingInterval.milliseconds
        return sent
    }
}
