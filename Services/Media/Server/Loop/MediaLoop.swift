internal import CMediaNode
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A media node's loop in C on a thread of its own, as an executor: jobs run between turns of the loop. All objects of
/// C are confined to that thread. After its end the thread only runs jobs, so that who asks then is answered too.
final class MediaLoop: SerialExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        /// The loop, to be woken; nil after its end. `cm_node_wake`, the only use of it
        /// here, may be called on any thread.
        nonisolated(unsafe) var node: OpaquePointer?
    }

    /// Dropped, and over the limit: a participant is told of each once.
    static let eventsOfParticipant = 2

    private let queue = Mutex(Queue())
    private let thread = Atomic<pthread_t>(0)
    private let wakesAfterEnd = DispatchSemaphore(value: 0)
    private let tell: AsyncStream<MediaTransportEvent>.Continuation
    /// Events of participants that are still in the node; at most ``eventsOfParticipant`` for each.
    let events: AsyncStream<MediaTransportEvent>
    // Set before the thread begins, and used by it alone from then on.
    nonisolated(unsafe) private(set) var node: OpaquePointer?
    nonisolated(unsafe) private let dtls: OpaquePointer
    nonisolated(unsafe) private(set) var port: UInt16 = 0
    /// The SHA-256 of the certificate.
    let fingerprint: [UInt8]

    /// Binds the socket; ``start()`` begins the loop.
    /// - Throws: the system's error.
    init(_ settings: MediaTransportSettings) throws(MediaTransportError) {
        guard let dtls = cm_dtls_context_make() else {
            throw MediaTransportError(code: ENOMEM, act: "make a certificate")
        }
        self.dtls = dtls
        var fingerprint = [UInt8](repeating: 0, count: Int(CM_FINGERPRINT_SIZE))
        cm_dtls_context_fingerprint(dtls, &fingerprint)
        self.fingerprint = fingerprint
        (events, tell) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Self.eventsOfParticipant * settings.participants))
        var given = settings.node(dtls: dtls) { MediaLoop.of($0).runJobs() }
        var opened: OpaquePointer?
        let error = cm_node_open(
            &opened, &given, { MediaLoop.of($0).told($1) }, Unmanaged.passUnretained(self).toOpaque())
        guard error == 0, let opened else {
            cm_dtls_context_free(dtls)
            throw MediaTransportError(code: error, act: "bind the UDP socket")
        }
        node = opened
        port = cm_node_port(opened)
        queue.withLock { $0.node = opened }
    }

    /// The thread keeps the loop.
    private static func of(_ context: UnsafeMutableRawPointer?) -> MediaLoop {
        guard let context else { preconditionFailure("the context is the loop") }
        return Unmanaged<MediaLoop>.fromOpaque(context).takeUnretainedValue()
    }

    /// Begins the loop.
    /// - Throws: the system's error when there is no thread.
    func start() throws(MediaTransportError) {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<MediaLoop>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        if status != 0 { throw MediaTransportError(code: status, act: "start the media thread") }
        pthread_detach(thread)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Under the lock, because the loop may end meanwhile.
        queue.withLock { queue in
            queue.jobs.append(job)
            guard queue.jobs.count == 1 else { return }
            if let node = queue.node { cm_node_wake(node) } else { wakesAfterEnd.signal() }
        }
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func checkIsolated() { precondition(isCurrent, "not on the media thread") }

    private var isCurrent: Bool { pthread_equal(pthread_self(), thread.load(ordering: .relaxed)) != 0 }

    private func runJobs() {
        let jobs = queue.withLock { queue in
            defer { queue.jobs.removeAll(keepingCapacity: true) }
            return queue.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// At the end of a turn of the loop.
    private func told(_ event: UnsafePointer<cm_node_event>?) {
        guard let event = event?.pointee else { return }
        switch event.kind {
        case CM_EVENT_DROPPED: tell.yield(MediaTransportEvent(kind: .dropped, id: event.id))
        case CM_EVENT_LIMIT: tell.yield(MediaTransportEvent(kind: .limit, id: event.id))
        // All kinds are counted in C; nothing follows from the others.
        default: break
        }
    }

    /// The main function of the thread.
    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        guard let running = node else { return }
        let error = cm_node_run(running)
        // Nothing but a system error ends it without `cm_node_stop`, and without it the node cannot work.
        if error != 0 { fatalError("the media loop ended: \(String(cString: strerror(error)))") }
        queue.withLock { $0.node = nil }
        node = nil
        cm_node_close(running)
        cm_dtls_context_free(dtls)
        tell.finish()
        while true {
            runJobs()
            wakesAfterEnd.wait()
        }
    }
}
