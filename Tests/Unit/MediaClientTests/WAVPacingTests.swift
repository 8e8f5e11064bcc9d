import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import MediaClient

@Suite struct WAVPacingTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Calls that come late each time do not make the next ones later.
    @Test func lateCallsDoNotAddUp() {
        var schedule = PaceSchedule(start: start)
        for block in 1...1000 {
            #expect(schedule.due == start + .milliseconds(Int64(20 * block)))
            schedule.advance(now: schedule.due + .milliseconds(19))
        }
    }

    @Test func aLongSleepIsNotMadeUpFor() {
        var schedule = PaceSchedule(start: start)
        schedule.advance(now: schedule.due + .milliseconds(500))
        #expect(schedule.due == start + .milliseconds(40))
        let now = start + .seconds(60)
        schedule.advance(now: now)
        #expect(schedule.due == now + .milliseconds(20))
    }

    /// The clock's pacer calls no sooner than it is due, and not after its stop.
    @Test func byTheClock() async {
        let pacer = LoopPacer()
        let count = NIOLockedValueBox(0)
        let begin = NIODeadline.now()
        await withCheckedContinuation { continuation in
            pacer.start {
                let isLast = count.withLockedValue { count in
                    count += 1
                    return count == 10
                }
                if isLast {
                    pacer.stop()
                    continuation.resume()
                }
            }
        }
        #expect(NIODeadline.now() - begin >= .milliseconds(200))
        // Of two starts the second counts; when stop returns, no call runs.
        let calls = NIOLockedValueBox(0)
        await withCheckedContinuation { continuation in
            let resume = NIOLockedValueBox<CheckedContinuation<Void, Never>?>(continuation)
            pacer.start { calls.withLockedValue { $0 -= 1000 } }
            pacer.start {
                calls.withLockedValue { $0 += 1 }
                resume.withLockedValue { $0.take() }?.resume()
            }
        }
        pacer.stop()
        let after = calls.withLockedValue { $0 }
        #expect(after > 0)
        #expect(count.withLockedValue { $0 } == 10)
        let other = LoopPacer()
        await withCheckedContinuation { continuation in
            let resume = NIOLockedValueBox<CheckedContinuation<Void, Never>?>(continuation)
            other.start { resume.withLockedValue { $0.take() }?.resume() }
        }
        other.stop()
        #expect(calls.withLockedValue { $0 } == after)
    }

    /// A stop from another thread returns after the call that runs has ended.
    @Test func stopWaitsForTheCall() async {
        let pacer = LoopPacer()
        let isDone = NIOLockedValueBox(false)
        await withCheckedContinuation { continuation in
            let resume = NIOLockedValueBox<CheckedContinuation<Void, Never>?>(continuation)
            pacer.start {
                resume.withLockedValue { $0.take() }?.resume()
                let end = NIODeadline.now() + .milliseconds(100)
                while NIODeadline.now() < end {}
                isDone.withLockedValue { $0 = true }
            }
        }
        pacer.stop()
        #expect(isDone.withLockedValue { $0 })
    }
}
