import Logging
import ServiceKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct PeriodicTaskTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private struct Failure: Error {}

    private static func task(every pause: Duration) -> PeriodicTask {
        PeriodicTask(every: pause, jitter: 0.5...1, complaint: "failed", logger: logger)
    }

    @Test func aFailedRoundIsFollowedByTheNext() async {
        let (rounds, more) = AsyncStream<Void>.makeStream()
        let running = Task {
            await Self.task(every: .milliseconds(1)).run {
                more.yield()
                throw Failure()
            }
        }
        var iterator = rounds.makeAsyncIterator()
        for _ in 0..<3 { #expect(await iterator.next() != nil) }
        running.cancel()
        await running.value
    }

    @Test func cancellationEndsTheRoundAndThePause() async {
        let (begun, started) = AsyncStream<Void>.makeStream()
        let inRound = Task {
            await Self.task(every: .seconds(3600)).run {
                started.yield()
                #expect(await !Task.pause(.seconds(3600)))
            }
        }
        let inPause = Task { await Self.task(every: .seconds(3600)).run { started.yield() } }
        var iterator = begun.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() != nil) }
        for task in [inRound, inPause] {
            task.cancel()
            await task.value
        }
        started.finish()
        #expect(await iterator.next() == nil, "no further round")
    }
}
