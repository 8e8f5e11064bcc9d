internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs an actor's jobs on a dedicated thread, so that blocking libpq calls do not occupy a
/// thread of Swift's cooperative pool.
final class ThreadExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    /// Signalled once for each job, and once by ``stop()``.
    private let signals = DispatchSemaphore(value: 0)

    /// Starts the thread, which lives until ``stop()``.
    init() {
        var thread = pthread_t()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            if let argument { Unmanaged<ThreadExecutor>.fromOpaque(argument).takeRetainedValue().work() }
            return nil
        }
        let status = pthread_create(&thread, nil, body, Unmanaged.passRetained(self).toOpaque())
        // Without the thread no job would ever run: a crash at start is better than a hang.
        precondition(status == 0, "no thread for PostgreSQL: error \(status)")
        pthread_detach(thread)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        signals.signal()
    }

    /// Ends the thread after the jobs that are already queued. Called when the actor is
    /// deallocated, so no job can follow.
    func stop() {
        state.withLock { $0.isStopped = true }
        signals.signal()
    }

    private func work() {
        var batch: [UnownedJob] = []
        while true {
            signals.wait()
            let isStopped = state.withLock { state in
                swap(&batch, &state.jobs)
                return state.isStopped
            }
            // The batch may be empty, because an earlier one has taken the job that this signal announced.
            if batch.isEmpty && isStopped { return }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: true)
        }
    }
}
