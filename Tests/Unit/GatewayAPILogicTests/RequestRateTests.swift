import Testing

@testable import GatewayAPILogic

@Suite struct RequestRateTests {
    /// What a key is answered that makes a request at each of these times.
    private func taken(_ rate: inout RequestRate, at times: [Double]) -> [Bool] {
        var answers: [Bool] = []
        for time in times { answers.append(rate.take(now: time)) }
        return answers
    }

    private func state(_ rate: RequestRate, at time: Double) -> RequestRate.State {
        var rate = rate
        return rate.state(now: time)
    }

    @Test func asManyAtOnceAsASecondHas() {
        var rate = RequestRate(limit: 3, now: 0)
        #expect(taken(&rate, at: [0, 0, 0, 0]) == [true, true, true, false])
        #expect(state(rate, at: 0) == .init(limit: 3, remaining: 0, reset: 1))
        #expect(taken(&rate, at: [0.34, 0.35]) == [true, false])
        #expect(state(rate, at: 60) == .init(limit: 3, remaining: 3, reset: 0))
    }

    @Test func aBatchBeyondTheRateMakesTheNextOneWait() {
        var rate = RequestRate(limit: 10, now: 0)
        #expect(taken(&rate, at: [0]) == [true])
        rate.charge(29)
        #expect(state(rate, at: 0) == .init(limit: 10, remaining: 0, reset: 3))
        #expect(taken(&rate, at: [2, 2.2]) == [false, true])
    }

    @Test func onlyOneBatchLeavesADebt() {
        var rate = RequestRate(limit: 1, now: 0)
        // The heads of three batches came in three seconds, their bodies all at once.
        #expect(taken(&rate, at: [0, 1, 2]) == [true, true, true])
        let batches = [rate.takeBatch(1000, now: 2), rate.takeBatch(1000, now: 2), rate.takeBatch(2, now: 900)]
        #expect(batches == [true, false, false])
        let isPaid = rate.takeBatch(2, now: 1001)
        #expect(isPaid)
    }

    @Test func aClockThatGoesBackGivesNothing() {
        var rate = RequestRate(limit: 2, now: 5)
        #expect(taken(&rate, at: [4, 4, 4]) == [true, true, false])
    }

    @Test func anotherLimitHoldsAtOnce() {
        var rate = RequestRate(limit: 100, now: 0)
        rate.setLimit(1)
        #expect(taken(&rate, at: [0, 0.5]) == [true, false])
    }
}
