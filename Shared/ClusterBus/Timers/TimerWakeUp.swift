internal import ClusterState
internal import NIOCore
internal import RedisClient
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// Decides when a process next checks its service's timers: at the next tick, or earlier when it knows of a
/// timer that is due before that.
final class TimerWakeUp: Sendable {
    private struct State {
        /// The time of the earliest timer found by the last check.
        var found: RedisTime?
        /// The earliest time of a timer that this process has set since that check began.
        var setSince: RedisTime?
        /// The timer of the event loop that the runner waits for.
        var timer: Scheduled<Void>?

        var due: RedisTime? { [found, setSince].compactMap(\.self).min() }
    }

    /// How long after a timer's time the process checks. The command that set the timer must have arrived, and timers
    /// due slightly later are claimed with it.
    private static let slack = Duration.milliseconds(10)

    private let clock = RedisClock()
    private let state = Mutex(State())

    /// Records that this process has set a timer; wakes the runner if the timer is due before the next check.
    func timerSet(at due: RedisTime) {
        let timer: Scheduled<Void>? = state.withLock { state in
            if let known = state.due, known <= due { return nil }
            state.setSince = due
            return state.timer
        }
        timer?.cancel()
    }

    /// Records that a check begins.
    func checkBegins() { state.withLock { $0.setSince = nil } }

    /// Records a check's result: the reply to TIME, and the time of the earliest timer, nil when there is none.
    /// - Returns: whether that timer is due.
    func checkEnds(at time: RedisValue, first: RedisTime?) -> Bool {
        clock.set(time)
        state.withLock { $0.found = first }
        guard let first, let now = clock.now else { return false }
        return first <= now
    }

    /// Waits until the next check, the task's cancellation or a graceful shutdown.
    /// - Parameter interval: the shortest wait.
    func wait(on eventLoop: any EventLoop, atLeast interval: Duration) async {
        let interval = TimeAmount(interval)
        let tick = max(.nextTick, .now() + interval)
        let earliest = NIODeadline.now() + interval
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let timer: Scheduled<Void>? = state.withLock { state in
                var time = tick
                if let due = state.due, let now = clock.now {
                    time = min(tick, max(earliest, .now() + TimeAmount(due - now + Self.slack)))
                }
                state.timer = time > .now() ? eventLoop.scheduleTask(deadline: time) {} : nil
                return state.timer
            }
            guard let timer else { return }
            await eventLoop.pause(for: timer)
        }
    }
}
