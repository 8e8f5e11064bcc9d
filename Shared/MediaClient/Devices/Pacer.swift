internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// Says when the next 20 ms of a file are due. Tests have one that they move by hand.
protocol Pacer: Sendable {
    /// Begins to call `tick` every 20 ms, the first time after 20 ms; never two calls at once. An earlier start is
    /// over.
    func start(_ tick: @escaping @Sendable () -> Void)

    /// Ends the calls: none runs any more when this returns, unless it is called by one.
    func stop()
}

/// The moments at which blocks are due. They are counted from the start, so that late calls do not add up.
struct PaceSchedule {
    /// The samples of a block, and their time.
    static let samples = 960
    static let interval = TimeAmount.milliseconds(20)
    /// The delay that is made up by calls in quick succession. What is longer, as when a machine slept, is left out.
    static let catchUpBound = TimeAmount.milliseconds(500)

    /// When the next block is due.
    private(set) var due: NIODeadline

    init(start: NIODeadline) { due = start + Self.interval }

    /// The block that was due is done.
    mutating func advance(now: NIODeadline) {
        due = now - due > Self.catchUpBound ? now + Self.interval : due + Self.interval
    }
}

/// Paces by the clock, on one of NIO's threads.
final class LoopPacer: Pacer {
    private let loop: any EventLoop
    /// Counts starts and stops: calls that were scheduled before the latest one do nothing.
    private let generation = NIOLockedValueBox(0)
    /// Held during a call, so that `stop` can wait for its end.
    private let turn = NIOLock()

    init(loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()) { self.loop = loop }

    func start(_ tick: @escaping @Sendable () -> Void) {
        schedule(PaceSchedule(start: .now()), generation: advance(), tick)
    }

    func stop() {
        _ = advance()
        // On the loop's own thread no call runs, or it is the one that stops.
        if !loop.inEventLoop { turn.withLock {} }
    }

    private func advance() -> Int {
        generation.withLockedValue { generation in
            generation += 1
            return generation
        }
    }

    private func schedule(_ schedule: PaceSchedule, generation: Int, _ tick: @escaping @Sendable () -> Void) {
        _ = loop.scheduleTask(deadline: schedule.due) {
            guard self.run(generation, tick) else { return }
            var next = schedule
            next.advance(now: .now())
            self.schedule(next, generation: generation, tick)
        }
    }

    private func run(_ generation: Int, _ tick: () -> Void) -> Bool {
        turn.withLock {
            guard self.generation.withLockedValue({ $0 }) == generation else { return false }
            tick()
            return true
        }
    }
}
