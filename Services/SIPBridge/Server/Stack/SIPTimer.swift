internal import CRe

/// A timer of libre's loop; fires once per start.
@SIPThread
final class SIPTimer {
    private let timer: OpaquePointer
    private let context: CallbackContext

    /// The context of libre's callback. It exists until the timer is freed on the SIP thread, which may be after the
    /// last reference to the timer is released.
    @SIPThread
    private final class CallbackContext {
        let act: @SIPThread () -> Void
        init(act: @escaping @SIPThread () -> Void) { self.act = act }
    }

    /// Creates a timer that is not running.
    /// - Parameter act: called when the timer fires.
    init(act: @escaping @SIPThread () -> Void) {
        context = CallbackContext(act: act)
        let made = cre_timer_make(
            { Unmanaged<CallbackContext>.fromOpaque($0!).takeUnretainedValue().act() },
            Unmanaged.passUnretained(context).toOpaque())
        // Like a failed allocation of a Swift object, this cannot be handled.
        guard let made else { fatalError("out of memory for a SIP timer") }
        timer = made
    }

    isolated deinit { cre_timer_free(timer) }

    /// Starts or restarts the timer.
    func start(after delay: Duration) {
        cre_timer_start(timer, UInt64(max(0, delay / .milliseconds(1)).rounded(.up)))
    }

    /// Stops the timer, if it is running.
    func stop() {
        cre_timer_stop(timer)
    }

    /// Whether it runs.
    var isRunning: Bool { cre_timer_is_running(timer) }
}
