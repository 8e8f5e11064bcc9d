internal import NIOCore

/// Runs tasks on an event loop.
///
/// A service's handlers do little between one answer of Redis and the next command: on the loop of their connection nothing
/// is handed from thread to thread, and what all handlers of one turn send leaves in one write.
final class EventLoopTasks: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
