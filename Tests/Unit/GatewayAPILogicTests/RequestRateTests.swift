import Pacing
import TestKit
import Testing

@testable import GatewayAPILogic

@Suite struct RequestRateTests {
    /// What a key is answered that makes a request at each of these times.
    private func taken(_ rate: inout RequestRate, at times: [LocalTime]) -> [Bool] {
        var answers: [Bool] = []
        for time in times { answers.append(rate.take(now: time)) }
        return answers
    }

    private func state(_ rate: RequestRate, at time: LocalTime) -> RequestRate.State {
        var rate = rate
        return rate.state(now: time)
    }

    @Test func asManyAtOnceAsASecondHas() {
        var rate = RequestRate(limit: 3)
        #expect(taken(&rate, at: [0, 0, 0, 0]) == [true, true, true, false])
        #expect(state(rate, at: 0) == .init(limit: 3, remaining: 0, reset: 1))
        #expect(taken(&rate, at: [340, 350]) == [true, false])
        #expect(state(rate, at: 60_000) == .init(limit: 3, remaining: 3, reset: 0))
    }

    @Test func aBatchBeyondTheRateMakesTheNextOneWait() {
        var rate = RequestRate(limit: 10)
        #expect(taken(&rate, at: [0]) == [true])
        rate.charge(29)
        #expect(state(rate, at: 0) == .init(limit: 10, remaining: 0, reset: 3))
        #expect(taken(&rate, at: [2000, 2200]) == [false, true])
    }

    @Test func onlyOneBatchLeavesADebt() {
        var rate = RequestRate(limit: 1)
        // The heads of three batches came in three seconds, their bodies all at once.
        #expect(taken(&rate, at: [0, 1000, 2000]) == [true, true, true])
        let batches = [
            rate.takeBatch(1000, now: 2000), rate.takeBatch(1000, now: 2000), rate.takeBatch(2, now: 900_000),
        ]
        #expect(batches == [true, false, false])
        let isPaid = rate.takeBatch(2, now: 1_001_000)
        #expect(isPaid)
    }

    @Test func aClockThatGoesBackGivesNothing() {
        var rate = RequestRate(limit: 2)
        #expect(taken(&rate, at: [5000, 4000, 4000]) == [true, true, false])
    }

    @Test func anotherLimitHoldsAtOnce() {
        var rate = RequestRate(limit: 100)
        rate.setLimit(1)
        #expect(taken(&rate, at: [0, 500]) == [true, false])
    }
}
