import Pacing
import TestKit
import Testing

@Suite struct TokenBucketTests {
    private func taken(_ bucket: inout TokenBucket, at now: LocalTime) -> Int {
        var count = 0
        while bucket.take(now: now) { count += 1 }
        return count
    }

    @Test func aBurstThenTheRate() {
        var bucket = TokenBucket(perSecond: 50, burst: 200)
        #expect(taken(&bucket, at: 1000) == 200)
        #expect(taken(&bucket, at: 1019) == 0)
        #expect(taken(&bucket, at: 1020) == 1)
        #expect(taken(&bucket, at: 2020) == 50)
        #expect(taken(&bucket, at: 3_000_000) == 200)
    }

    @Test func fractionsAddUp() {
        var bucket = TokenBucket(perSecond: 3, burst: 3)
        #expect(taken(&bucket, at: 0) == 3)
        var count = 0
        for now in 1...10_000 { count += taken(&bucket, at: LocalTime(milliseconds: Int64(now))) }
        #expect(count == 30)
    }

    @Test func theBurstIsASecondsTokensAtLeast() {
        var bucket = TokenBucket(perSecond: 1_000_000, burst: 200)
        #expect(taken(&bucket, at: 0) == 1_000_000)
        #expect(bucket.take(now: LocalTime(nanoseconds: .max / 2)) == true)
    }

    @Test func aTokenInAdvanceIsWaitedFor() {
        var bucket = TokenBucket(perSecond: 200, burst: 200, tokens: 1)
        #expect(bucket.reserve(now: 0) == .zero)
        #expect(bucket.reserve(now: 0) == .milliseconds(5))
        #expect(bucket.reserve(now: 5) == .milliseconds(5))
        #expect(bucket.take(now: 10) == false)
        #expect(bucket.reserve(now: 1000) == .zero)
    }

    @Test func otherBoundsGiveNothingBack() {
        var bucket = TokenBucket(perSecond: 50, burst: 200)
        bucket.change(perSecond: 500, burst: 500)
        #expect(taken(&bucket, at: 0) == 500)
        bucket.change(perSecond: 1000, burst: 1000)
        #expect(taken(&bucket, at: 0) == 0)
        bucket.change(perSecond: 10, burst: 10)
        #expect(taken(&bucket, at: 100_000) == 10)
    }

    @Test func theWaitForATokenIsRoundedUp() {
        var bucket = TokenBucket(perSecond: 3, burst: 3, tokens: 0)
        #expect(bucket.reserve(now: 0) == .milliseconds(334))
        #expect(bucket.reserve(now: 0) == .milliseconds(667))
    }

    @Test func aClockThatGoesBackTakesNothing() {
        var bucket = TokenBucket(perSecond: 1, burst: 2)
        #expect(bucket.take(now: 2000) == true)
        #expect(bucket.take(now: 0) == true)
    }

    @Test func aDebtIsPaidByTheWholeTimeThatHasPassed() {
        var bucket = TokenBucket(perSecond: 1, burst: 1)
        bucket.charge(1000)
        let owed = bucket.thousandths(now: 0)
        #expect(owed == -999_000)
        #expect(bucket.take(now: 999_999) == false)
        #expect(bucket.take(now: 1_000_000) == true)
    }

    @Test func aHigherLimitMayGiveAFullBucketNothing() {
        var bucket = TokenBucket(perSecond: 2, burst: 2)
        let wasFull = bucket.isFull(now: 0)
        bucket.change(perSecond: 5, burst: 5, staysFull: false)
        let isFull = bucket.isFull(now: 0)
        #expect(wasFull && !isFull)
        #expect(taken(&bucket, at: 0) == 2)
    }
}
