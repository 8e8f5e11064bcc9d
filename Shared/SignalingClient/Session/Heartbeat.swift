/// Sends pings, and detects a dead connection by missing pongs.
package struct Heartbeat {
    private var sent: Int64 = 0
    /// The number of pings since the last pong.
    private var unanswered = 0
    /// When the next ping is due, in ms.
    package private(set) var due: Int64 = 0

    /// Nothing is sent before `start`.
    package init() {}

    /// Called when a connection is established.
    package mutating func start(now: Int64, _ timing: ClientTiming) {
        unanswered = 0
        due = now + timing.pingInterval.milliseconds
    }

    /// Called when the gateway has answered a ping.
    package mutating func ponged() { unanswered = 0 }

    /// Called when a ping is due.
    /// - Parameter isReadingPaused: whether reading is paused; pongs are not read then, so missing ones prove nothing.
    /// - Returns: the number of the ping to send; nil when too many were not answered, so that the connection is dead.
    package mutating func nextPing(now: Int64, _ timing: ClientTiming, isReadingPaused: Bool) -> Int64? {
        if isReadingPaused { unanswered = 0 }
        guard unanswered < timing.missedPongs else { return nil }
        unanswered += 1
        sent += 1
        due = now + timing.pingInterval.milliseconds
        return sent
    }
}
