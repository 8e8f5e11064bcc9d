internal import CRe

/// A timer of libre's loop, for one event at a time.
@SIPThread
final class SIPTimer {
    private let timer: OpaquePointer
    private let cell: Cell

    /// What libre calls back. It lives until the timer is freed on the SIP thread, which may be after the last reference to the
    /// timer is gone.
    @SIPThread
    private final class Cell {
        let act: @SIPThread () -> Void
        init(act: @escaping @SIPThread () -> Void) { self.act = act }
    }

    /// Makes a timer that is not running.
    /// - Parameter act: called when the time is over.
    init(act: @escaping @SIPThread () -> Void) {
        cell = Cell(act: act)
        let made = cre_timer_make(
            { Unmanaged<Cell>.fromOpaque($0!).takeUnretainedValue().act() }, Unmanaged.passUnretained(cell).toOpaque())
        // As for any object of Swift's, there is no going on without memory.
        guard let made else { fatalError("no memory for a SIP timer") }
        timer = made
    }

    isolated deinit { cre_timer_free(timer) }

    /// Starts it, or starts it over.
    func start(after delay: Duration) {
        cre_timer_start(timer, UInt64(max(0, delay / .milliseconds(1)).rounded(.up)))
    }

    /// Stops it, if it runs.
    func stop() {
        cre_timer_stop(timer)
    }

    /// Whether it runs.
    var isRunning: Bool { cre_timer_is_running(timer) }
}
