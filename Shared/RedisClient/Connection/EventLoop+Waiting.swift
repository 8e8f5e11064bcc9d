package import NIOCore
internal import ServiceLifecycle

extension EventLoop {
    /// Waits until a time or the task's cancellation. Uses a timer of the loop, which wakes a task of this loop without
    /// involving another thread.
    package func wait(until deadline: NIODeadline) async { await wait(for: scheduleTask(deadline: deadline) {}) }

    /// Waits until a time, the task's cancellation or a graceful shutdown.
    package func pause(until deadline: NIODeadline) async { await pause(for: scheduleTask(deadline: deadline) {}) }

    /// Waits for a time span, or until the task's cancellation or a graceful shutdown.
    package func pause(for span: Duration) async { await pause(until: .now() + TimeAmount(span)) }

    /// Waits until a timer of this loop fires or is cancelled, or until the task's cancellation or a graceful shutdown.
    package func pause(for timer: Scheduled<Void>) async {
        await withGracefulShutdownHandler {
            await wait(for: timer)
        } onGracefulShutdown: {
            timer.cancel()
        }
    }

    /// Does something on this loop, at once if it is the current one, and waits for it. May be called from any thread.
    package func completed<Value: Sendable>(_ act: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            let resume: @Sendable () -> Void = { continuation.resume(returning: act()) }
            if inEventLoop { resume() } else { execute(resume) }
        }
    }

    private func wait(for timer: Scheduled<Void>) async {
        await withTaskCancellationHandler {
            // A cancelled timer fails its future; that ends the wait too.
            _ = try? await timer.futureResult.get()
        } onCancel: {
            timer.cancel()
        }
    }
}

extension NIODeadline {
    private static let tick: UInt64 = 1_000_000_000

    /// The offset of this process's tick within the second.
    private static let phase = UInt64.random(in: 0..<tick)

    /// The next time for work that is done once a second. All such work of a process shares one moment, so that
    /// the process wakes up once for it. Processes use different moments, because a message that arrives at that
    /// moment waits for all of the work.
    package static var nextTick: NIODeadline {
        .uptimeNanoseconds((now().uptimeNanoseconds + tick - phase) / tick * tick + phase)
    }

    /// The milliseconds until this deadline, at least 1.
    package var millisecondsLeft: Int64 { max(1, (self - .now()).nanoseconds / 1_000_000) }
}
