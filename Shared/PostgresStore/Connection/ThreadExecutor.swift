internal import Glibc

/// Runs an actor's jobs on a thread of its own, so that calls into libpq may block without holding a thread of the
/// cooperative pool.
///
/// `@unchecked Sendable`: `jobs` and `isStopped` are guarded by `mutex`; the pointers never change.
final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    /// Starts the thread, which lives until ``stop()``.
    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        var thread = pthread_t()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            if let argument { Unmanaged<ThreadExecutor>.fromOpaque(argument).takeRetainedValue().work() }
            return nil
        }
        let status = pthread_create(&thread, nil, body, Unmanaged.passRetained(self).toOpaque())
        // Without the thread no job would ever run: better to end here than to hang.
        precondition(status == 0, "no thread for PostgreSQL: error \(status)")
        pthread_detach(thread)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Ends the thread after the jobs that are already queued. Called when the actor is gone, so none can follow.
    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func work() {
        var batch: [UnownedJob] = []
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty && !isStopped { pthread_cond_wait(condition, mutex) }
            swap(&batch, &jobs)
            pthread_mutex_unlock(mutex)
            if batch.isEmpty { return }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: true)
        }
    }
}
