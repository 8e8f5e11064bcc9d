internal import CRe
internal import Glibc
internal import Pacing
internal import SIPBridgeLogic
internal import Synchronization

/// libre's event loop on its own thread, as an executor: jobs run between the loop's events. It runs until the process
/// ends.
final class SIPLoop: SerialExecutor {
    /// The largest number of descriptors that the loop can watch: two for each call's media, and one for each
    /// connection.
    static let maxDescriptors: Int32 = 16_384

    private let queue = Mutex<[UnownedJob]>([])
    /// The descriptor that wakes the loop; set before ``start()`` returns.
    private let waker = Atomic<Int32>(-1)
    /// The loop's thread; set before ``start()`` returns.
    private let thread = Atomic<pthread_t>(0)

    private init() {}

    /// Starts the thread and waits until its loop is ready, a few milliseconds.
    /// - Throws: the system's error when there is no thread or descriptor.
    static func start() throws(SIPError) -> SIPLoop {
        let start = ThreadStart(loop: SIPLoop())
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        if status != 0 { throw SIPError(code: status, act: "start the SIP thread") }
        pthread_detach(thread)
        try SIPError.check(start.outcome(), "prepare the SIP loop")
        return start.loop
    }

    /// The present moment by the clock that timers use. May be read from any thread.
    static var now: LocalTime { LocalTime(milliseconds: Int64(cre_loop_now())) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = queue.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { cre_waker_wake(waker.load(ordering: .acquiring)) }
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func checkIsolated() { precondition(isCurrent, "not on the SIP thread") }

    /// Whether the caller is on the loop's thread.
    private var isCurrent: Bool { pthread_equal(pthread_self(), thread.load(ordering: .relaxed)) != 0 }

    private func runJobs() {
        let jobs = queue.withLock { jobs in
            defer { jobs.removeAll(keepingCapacity: true) }
            return jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// The main function of the loop's thread, which reports when the loop is ready.
    private final class ThreadStart: Sendable {
        let loop: SIPLoop
        private let done = Mutex<Int32?>(nil)

        init(loop: SIPLoop) { self.loop = loop }

        /// Waits for the loop: returns 0 when it is ready, else an errno value.
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
            // Nothing cancels the loop, and without it the bridge cannot work: only a system error leads here.
            fatalError("the SIP loop ended: \(String(cString: strerror(end)))")
        }

        private func prepare() -> Int32 {
            loop.thread.store(pthread_self(), ordering: .relaxed)
            let status = cre_loop_prepare(SIPLoop.maxDescriptors)
            if status != 0 { return status }
            // The thread keeps the loop alive, so the waker need not retain it.
            let waker = cre_waker_open(
                { context in Unmanaged<SIPLoop>.fromOpaque(context!).takeUnretainedValue().runJobs() },
                Unmanaged.passUnretained(loop).toOpaque())
            loop.waker.store(waker, ordering: .releasing)
            return waker < 0 ? EMFILE : 0
        }
    }
}
