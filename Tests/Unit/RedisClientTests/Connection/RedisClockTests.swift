import ClusterState
import NIOCore
import SignalingProtocol
import Testing

@testable import RedisClient

@Suite struct RedisClockTests {
    private static let start = ContinuousClock.now

    private static func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// A reply to TIME.
    private static func time(_ milliseconds: Int64) -> RedisValue {
        .array([
            .bulk(ByteBuffer(string: "\(milliseconds / 1000)")),
            .bulk(ByteBuffer(string: "\(milliseconds % 1000 * 1000)")),
        ])
    }

    @Test func unknownBeforeTheFirstAnswer() {
        let clock = RedisClock()
        #expect(clock.now == nil)
        clock.set(.null)
        #expect(clock.now == nil)
    }

    @Test func isNeverAhead() {
        let clock = RedisClock()
        clock.set(Self.time(1_000_000), askedAt: Self.at(0), heardAt: Self.at(50))
        #expect(clock.time(at: Self.at(50)) == RedisTime(milliseconds: 1_000_000))
        #expect(clock.time(at: Self.at(150)) == RedisTime(milliseconds: 1_000_100))
    }

    @Test func aQuickAnswerMakesItBetter() {
        let clock = RedisClock()
        clock.set(Self.time(1_000_000), askedAt: Self.at(0), heardAt: Self.at(50))
        clock.set(Self.time(1_002_010), askedAt: Self.at(1999), heardAt: Self.at(2001))
        #expect(clock.time(at: Self.at(2001)) == RedisTime(milliseconds: 1_002_010))
    }

    @Test func anAnswerThatWaitedToBeReadMakesItNoWorse() {
        let clock = RedisClock()
        clock.set(Self.time(1_000_000), askedAt: Self.at(0), heardAt: Self.at(1))
        // Asked at 2 s and answered at once, but the answer is read only at 20 s.
        clock.set(Self.time(1_002_000), askedAt: Self.at(2000), heardAt: Self.at(20_000))
        #expect(clock.time(at: Self.at(20_000)) == RedisTime(milliseconds: 1_019_999))
    }

    @Test(arguments: [-60_000, 60_000] as [Int64])
    func followsAStep(_ step: Int64) {
        let clock = RedisClock()
        clock.set(Self.time(1_000_000), askedAt: Self.at(0), heardAt: Self.at(1))
        clock.set(Self.time(1_002_000 + step), askedAt: Self.at(2000), heardAt: Self.at(2001))
        #expect(clock.time(at: Self.at(2001)) == RedisTime(milliseconds: 1_002_000 + step))
    }
}
