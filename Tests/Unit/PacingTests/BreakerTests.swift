import Pacing
import Testing

@Suite struct BreakerTests {
    private func opened(after bound: Int = 1) -> Breaker {
        var breaker = Breaker(failuresBound: bound)
        for _ in 1...bound { _ = breaker.tried(.failed) }
        return breaker
    }

    @Test func onlyFailuresInARowOpenIt() {
        var breaker = Breaker(failuresBound: 2)
        let answers = [Breaker.Outcome.failed, .reached, .failed, .unknown, .failed, .failed].map { breaker.tried($0) }
        #expect(answers == [false, false, false, false, true, false])
        #expect(breaker.isOpen)
    }

    @Test func oneProbeAtATime() {
        var closed = Breaker(failuresBound: 1), breaker = opened()
        let begun = [closed.probe(), breaker.probe(), breaker.probe()]
        #expect(begun == [false, true, false])
        #expect(breaker.isProbing && breaker.isOpen)
    }

    @Test func failedProbesAreCounted() {
        var breaker = opened(after: 3)
        let counts = [Breaker.Outcome.failed, .unknown, .failed, .reached].map { outcome in
            _ = breaker.probe()
            return breaker.probed(outcome)
        }
        #expect(counts == [1, 1, 2, nil])
        #expect(!breaker.isOpen)
        // The failures from before it opened are forgotten.
        let isOpen = breaker.tried(.failed)
        #expect(!isOpen)
    }

    @Test func whatEndsWhileItIsOpenTellsNothing() {
        var breaker = opened()
        let next = breaker.probed(.reached)
        let isOpened = breaker.tried(.reached)
        #expect(next == nil && !isOpened && breaker.isOpen)
    }
}
