import Testing

@testable import RedisClient

@Suite struct BackOffTests {
    @Test func boundDoublesUpToTheCeiling() {
        let backOff = BackOff(base: .milliseconds(50), ceiling: .seconds(2))
        #expect(
            (0...7).map { backOff.bound(attempt: $0) }
                == [50, 100, 200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) })
        #expect(backOff.bound(attempt: 1_000_000) == .seconds(2))
        #expect(BackOff(base: .seconds(3600), ceiling: .seconds(7200)).bound(attempt: 62) == .seconds(7200))
        #expect(backOff.bound(attempt: -1) == .milliseconds(50))
    }

    @Test func delaysFillTheWholeRange() {
        let backOff = BackOff(base: .milliseconds(100), ceiling: .seconds(1))
        var generator = SystemRandomNumberGenerator()
        let delays = (0..<1000).map { _ in backOff.delay(attempt: 2, using: &generator) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 <= .milliseconds(400) })
        #expect(delays.contains { $0 < .milliseconds(100) })
        #expect(delays.contains { $0 > .milliseconds(300) })
    }
}
