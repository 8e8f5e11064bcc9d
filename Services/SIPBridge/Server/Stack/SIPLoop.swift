internal import CRe
internal import Glibc
internal import Synchronization

/// The thread that runs libre, and the executor of all actors that touch it.
///
/// libre knows no locks: sockets, timers, transactions and dialogs are all used from here. Its callbacks come on this thread
/// too, so an actor of this executor takes them with `assumeIsolated`.
///
/// `@unchecked Sendable`: `pending` guards itself; `waker` and `thread` are set before ``start()`` returns and never change.
final class SIPLoop: SerialExecutor, @unchecked Sendable {
    /// The most descriptors that the loop can watch; two for each call's media, and connections.
    static let maxDescriptors: Int32 = 16_384

    private enum Work {
        case job(UnownedJob)
        case act(@Sendable () -> Void)
    }

    private struct Pending {
        var work: [Work] = []
        var isStopped = false
    }

    private let pending = Mutex(Pending())
    private var waker: OpaquePointer?
    private var thread = pthread_t()

    private init() {}

    /// Starts the thread.
    static func start() throws(SIPError) -> SIPLoop {
        let loop = SIPLoop()
        let launch = Launch(loop: loop)
        let status = pthread_create(
            &loop.thread, nil,
            { argument in
                Unmanaged<Launch>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(launch).toOpaque())
        if status != 0 { throw SIPError(code: status, act: "start the SIP thread") }
        pthread_detach(loop.thread)
        try SIPError.check(launch.outcome(), "prepare the SIP loop")
        return loop
    }

    /// Ends the thread after what is queued. Nothing may be enqueued afterwards: actors of this loop have to be done.
    func stop() {
        perform { [self] in
            pending.withLock { $0.isStopped = true }
            cre_loop_cancel()
        }
    }

    /// Milliseconds of the clock that timers run by. Any thread.
    static var now: UInt64 { cre_loop_now() }

    func enqueue(_ job: consuming ExecutorJob) {
        let isTaken = add(.job(UnownedJob(job)))
        precondition(isTaken, "a job for a SIP loop that was stopped")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func checkIsolated() { precondition(isCurrent, "not on the SIP thread") }

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    /// Does something on the thread: at once when called there, else soon. After ``stop()`` it is not done: what it would free
    /// went with the loop.
    func perform(_ act: @escaping @Sendable () -> Void) {
        if isCurrent { act() } else { _ = add(.act(act)) }
    }

    private func add(_ work: Work) -> Bool {
        let (isTaken, isFirst) = pending.withLock { pending in
            if pending.isStopped { return (false, false) }
            pending.work.append(work)
            return (true, pending.work.count == 1)
        }
        if isFirst { cre_waker_wake(waker) }
        return isTaken
    }

    private func drain() {
        let work = pending.withLock { pending in
            defer { pending.work.removeAll(keepingCapacity: true) }
            return pending.work
        }
        for item in work {
            switch item {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .act(let act): act()
            }
        }
    }

    /// Hands the outcome of the thread's beginning to who started it.
    private final class Launch: Sendable {
        private let loop: SIPLoop
        private let done = Mutex<Int32?>(nil)

        init(loop: SIPLoop) { self.loop = loop }

        /// Waits for it: a few milliseconds, once per process.
        func outcome() -> Int32 {
            while true {
                if let status = done.withLock({ $0 }) { return status }
                usleep(200)
            }
        }

        func run() {
            let status = prepare()
            done.withLock { $0 = status }
            guard status == 0 else { return }
            let end = cre_loop_run()
            // Without its loop nothing of the bridge works any more; only a system error can lead here.
            precondition(end == 0, "the SIP loop failed: \(String(cString: strerror(end)))")
            loop.drain()
            cre_waker_close(loop.waker)
            cre_loop_finish()
        }

        private func prepare() -> Int32 {
            let status = cre_loop_prepare(SIPLoop.maxDescriptors)
            if status != 0 { return status }
            // The thread keeps the loop alive, so the waker need not.
            loop.waker = cre_waker_open(
                { context in Unmanaged<SIPLoop>.fromOpaque(context!).takeUnretainedValue().drain() },
                Unmanaged.passUnretained(loop).toOpaque())
            return loop.waker == nil ? EMFILE : 0
        }
    }
}
