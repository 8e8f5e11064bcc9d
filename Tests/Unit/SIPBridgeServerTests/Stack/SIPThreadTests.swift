import Glibc
import Testing

@testable import SIPBridgeServer

@Suite("The SIP thread", .timeLimit(.minutes(1)))
struct SIPThreadTests {
    @Test("Jobs run in order on one thread")
    func order() async {
        let thread = await SIPThreadTests.thread()
        for _ in 0..<3 { #expect(await SIPThreadTests.thread() == thread) }
        #expect(pthread_equal(pthread_self(), thread) == 0)
    }

    @SIPThread
    private static func thread() -> pthread_t { pthread_self() }

    @Test("A timer released on another thread is freed on the SIP thread and does not fire")
    func freed() async {
        let fired = await Mailbox<String>()
        do {
            let timer = await SIPTimer { fired.put("let go of") }
            await timer.start(after: .milliseconds(30))
        }
        let later = await SIPTimer { fired.put("kept") }
        await later.start(after: .milliseconds(60))
        #expect(await fired.next() == "kept")
        #expect(await fired.isEmpty)
    }

    @Test("A C callback on another thread ends the process")
    func callback() async {
        await #expect(processExitsWith: .failure) { await callBackOnAnotherThread() }
    }
}

@SIPThread
private var callbacks = 0

/// Passes a C function a callback that is isolated to the SIP thread; the function calls it on a thread of its own.
@SIPThread
private func callBackOnAnotherThread() {
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { _ in
            callbacks += 1
            return nil
        }, nil)
    if status == 0 { pthread_join(thread, nil) }
}
