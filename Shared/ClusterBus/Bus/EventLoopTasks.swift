package import NIOCore

/// Runs tasks, and the actors that they enter, on an event loop.
///
/// A service's handlers do little work between a reply of Redis and the next command. On the loop of their connection,
/// nothing has to be passed between threads, and the commands of all handlers that run in one
/// tick of the loop share one write.
package final class EventLoopTasks: TaskExecutor {
    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
