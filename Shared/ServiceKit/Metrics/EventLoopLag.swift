package import NIOCore
internal import ServiceMetrics

/// Measures by how much the timers of event loops fire late: as long as any event waits there until it is dealt with.
package enum EventLoopLag {
    private static let pause = TimeAmount.milliseconds(250)
    private static let lag = Histogram(
        "heliograph_event_loop_lag_seconds", "How late event loops are, measured four times a second.")

    /// Measures at all loops of a group until it is shut down.
    package static func watch(_ group: any EventLoopGroup) {
        for loop in group.makeIterator() { measure(loop) }
    }

    private static func measure(_ loop: any EventLoop) {
        let due = NIODeadline.now() + pause
        loop.scheduleTask(deadline: due) {
            lag.record(nanoseconds: max(0, (NIODeadline.now() - due).nanoseconds))
            measure(loop)
        }
    }
}
