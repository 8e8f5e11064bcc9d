import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import Testing

@Suite struct UptimeTrackerTests {
    private var tracker = UptimeTracker()
    private let start = ContinuousClock.now

    /// A moment of the local clock, in milliseconds after the start.
    private func at(_ milliseconds: Int64) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// Feeds one answer per second from `first` to `last`; the Redis clock is 1,000,000 ms ahead.
    private mutating func answers(_ seconds: ClosedRange<Int64>, term: Int = 1, clockStep: Int64 = 0) {
        for second in seconds {
            tracker.answered(
                redis: RedisTime(milliseconds: 1_000_000 + clockStep + second * 1000), local: at(second * 1000),
                term: term)
        }
    }

    @Test func nothingIsKnownBeforeTheFirstAnswer() {
        #expect(tracker.since(local: at(0), term: 1) == nil)
    }

    @Test mutating func itBeginsWithTheFirstAnswer() {
        answers(0...60)
        #expect(tracker.since(local: at(61_000), term: 1) == RedisTime(milliseconds: 1_000_000))
    }

    @Test mutating func aGapBeginsItAnew() {
        answers(0...10)
        answers(13...20)
        #expect(tracker.since(local: at(20_100), term: 1) == RedisTime(milliseconds: 1_013_000))
    }

    @Test mutating func aPauseThatIsNoGapDoesNot() {
        answers(0...10)
        answers(12...20)
        #expect(tracker.since(local: at(20_100), term: 1) == RedisTime(milliseconds: 1_000_000))
    }

    @Test mutating func aNewTermBeginsItAnew() {
        answers(0...10)
        #expect(tracker.since(local: at(10_100), term: 2) == nil, "nothing was heard in it yet")
        answers(11...12, term: 2)
        #expect(tracker.since(local: at(12_000), term: 2) == RedisTime(milliseconds: 1_011_000))
    }

    @Test mutating func aStepOfItsClockBeginsItAnew() {
        answers(0...10)
        answers(11...12, clockStep: 30_000)
        #expect(tracker.since(local: at(12_000), term: 1) == RedisTime(milliseconds: 1_041_000))
        answers(13...14)
        #expect(tracker.since(local: at(14_000), term: 1) == RedisTime(milliseconds: 1_013_000))
    }

    @Test mutating func itIsNotKnownWhileRedisIsSilent() {
        answers(0...10)
        #expect(tracker.since(local: at(12_500), term: 1) == RedisTime(milliseconds: 1_000_000))
        #expect(tracker.since(local: at(12_501), term: 1) == nil)
    }
}
