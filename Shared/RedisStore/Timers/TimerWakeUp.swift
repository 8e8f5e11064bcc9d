internal import ClusterState
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// When a process looks at its service's timers next: at the next tick, or earlier when it knows of a timer that is due earlier.
final class TimerWakeUp: Sendable {
    private struct State {
        /// The time of the first timer that the last look has shown.
        var seen: RedisTime?
        /// The earliest time that this process has set since that look began.
        var heard: RedisTime?
        /// What the runner waits for.
        var timer: Scheduled<Void>?

        var due: RedisTime? { [seen, heard].compactMap(\.self).min() }
    }

    /// How long after a timer's time the process looks: the command that set it must have arrived, and timers that are due a
    /// little later are claimed with it.
    private static let slack = TimeAmount.milliseconds(10)

    private let clock = RedisClock()
    private let state = Mutex(State())

    /// Called when this process sets a timer: wakes the runner if that timer is due before its next look.
    func hears(of due: RedisTime) {
        let timer: Scheduled<Void>? = state.withLock { state in
            if let known = state.due, known <= due { return nil }
            state.heard = due
            return state.timer
        }
        timer?.cancel()
    }

    /// A look begins.
    func begins() { state.withLock { $0.heard = nil } }

    /// Takes the answer to TIME and the time of the first timer, nil when there is none.
    /// - Returns: whether it is due.
    func looked(at time: RedisValue, first: RedisTime?) -> Bool {
        clock.set(time)
        state.withLock { $0.seen = first }
        guard let first, let now = clock.now else { return false }
        return first <= now
    }

    /// Waits until it is time to look; not beyond the task's cancellation or a graceful shutdown.
    /// - Parameter interval: to be waited in any case.
    func wait(on eventLoop: any EventLoop, atLeast interval: Duration) async {
        let interval = TimeAmount(interval)
        let tick = max(.nextTick, .now() + interval)
        let earliest = NIODeadline.now() + interval
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let timer: Scheduled<Void>? = state.withLock { state in
                var time = tick
                if let due = state.due, let now = clock.now {
                    time = min(tick, max(earliest, .now() + TimeAmount(due - now) + Self.slack))
                }
                state.timer = time > .now() ? eventLoop.scheduleTask(deadline: time) {} : nil
                return state.timer
            }
            guard let timer else { return }
            await eventLoop.pause(for: timer)
        }
    }
}
