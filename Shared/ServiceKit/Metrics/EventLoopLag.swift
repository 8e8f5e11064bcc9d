package import NIOCore
internal import ServiceMetrics

/// Measures by how much the timers of event loops fire late: as long as any event waits there until it is dealt with.
package enum EventLoopLag {
    private static let lag = Histogram(
        "heliograph_event_loop_lag_seconds", "How late event loops are, measured once a second.")

    /// Measures at all loops of a group until it is shut down. Not more often than once a second: each measurement
    /// wakes an idle loop (`Docs/decisions/0046-speed.md`).
    package static func watch(_ group: any EventLoopGroup, every pause: TimeAmount = .seconds(1)) {
        // Declared now, so that it can be scraped before the first measurement.
        let lag = lag
        for loop in group.makeIterator() { measure(loop, every: pause, in: lag) }
    }

    private static func measure(_ loop: any EventLoop, every pause: TimeAmount, in lag: Histogram) {
        let due = NIODeadline.now() + pause
        loop.scheduleTask(deadline: due) {
            lag.record(nanoseconds: max(0, (NIODeadline.now() - due).nanoseconds))
            measure(loop, every: pause, in: lag)
        }
    }
}
