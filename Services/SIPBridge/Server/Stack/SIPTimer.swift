internal import CRe

/// A timer of the loop, for one event at a time.
///
/// `@unchecked Sendable`: used on the loop's thread only, which ``start(after:)`` checks; its end is handed over to it.
final class SIPTimer: @unchecked Sendable {
    private let loop: SIPLoop
    private let timer: OpaquePointer
    private let cell: Cell

    /// What libre calls back; it outlives the timer when that ends on another thread.
    private final class Cell {
        let act: () -> Void
        init(act: @escaping () -> Void) { self.act = act }
    }

    /// Makes a timer that is not running.
    /// - Parameter act: called on the loop's thread when the time is over.
    init(loop: SIPLoop, act: @escaping () -> Void) {
        loop.preconditionIsolated()
        self.loop = loop
        cell = Cell(act: act)
        let made = cre_timer_make(
            { Unmanaged<Cell>.fromOpaque($0!).takeUnretainedValue().act() }, Unmanaged.passUnretained(cell).toOpaque())
        // As for any object of Swift's, there is no going on without memory.
        guard let made else { fatalError("no memory for a SIP timer") }
        timer = made
    }

    deinit {
        // Unsafe: nobody else has them any more, and they are used on the loop's thread only.
        nonisolated(unsafe) let (timer, cell) = (timer, cell)
        loop.perform { withExtendedLifetime(cell) { cre_timer_free(timer) } }
    }

    /// Starts it, or starts it over.
    func start(after delay: Duration) {
        loop.preconditionIsolated()
        cre_timer_start(timer, UInt64(max(0, delay / .milliseconds(1)).rounded(.up)))
    }

    /// Stops it, if it runs.
    func stop() {
        loop.preconditionIsolated()
        cre_timer_stop(timer)
    }

    /// Whether it runs.
    var isRunning: Bool { cre_timer_is_running(timer) }
}
