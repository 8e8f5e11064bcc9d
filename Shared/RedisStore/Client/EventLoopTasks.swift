internal import NIOCore
internal import ServiceLifecycle

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

extension EventLoop {
    /// Waits until a time; not beyond the task's cancellation. It is a timer of the loop, which wakes a task of this loop
    /// without another thread.
    func wait(until deadline: NIODeadline) async { await wait(for: scheduleTask(deadline: deadline) {}) }

    /// Waits until a time; not beyond the task's cancellation or a graceful shutdown.
    func pause(until deadline: NIODeadline) async { await pause(for: scheduleTask(deadline: deadline) {}) }

    /// Waits for a timer of this loop, or its cancellation; not beyond the task's or a graceful shutdown.
    func pause(for timer: Scheduled<Void>) async {
        await withGracefulShutdownHandler {
            await wait(for: timer)
        } onGracefulShutdown: {
            timer.cancel()
        }
    }

    private func wait(for timer: Scheduled<Void>) async {
        await withTaskCancellationHandler {
            // Fails when it is cancelled, which is an end too.
            _ = try? await timer.futureResult.get()
        } onCancel: {
            timer.cancel()
        }
    }
}

extension NIODeadline {
    private static let tick: UInt64 = 1_000_000_000

    /// Where in the second this process' tick is.
    private static let phase = UInt64.random(in: 0..<tick)

    /// When what is done each second is to be done next: all of a process at the same moment, so that it wakes up once for it;
    /// each process at another, because a message that comes then waits for all of them.
    static var nextTick: NIODeadline {
        .uptimeNanoseconds((now().uptimeNanoseconds + tick - phase) / tick * tick + phase)
    }

    /// Milliseconds until then, at least one.
    var millisecondsLeft: Int64 { max(1, (self - .now()).nanoseconds / 1_000_000) }
}
