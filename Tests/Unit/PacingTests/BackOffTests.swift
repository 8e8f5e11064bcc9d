import Pacing
import Testing

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

    @Test func aPauseIsItsPartOfTheBound() {
        let backOff = BackOff(base: .milliseconds(100), ceiling: .seconds(1))
        #expect(backOff.delay(attempt: 2, fromZeroBy: 0) == .zero)
        #expect(backOff.delay(attempt: 2, fromZeroBy: 0.25) == .milliseconds(100))
        #expect(backOff.delay(attempt: 9, fromZeroBy: 1) == .seconds(1))
    }

    @Test func theBoundOfLongPausesDoublesToo() {
        let backOff = BackOff(base: .seconds(1), ceiling: .seconds(300))
        let pauses = (0...10).map { backOff.delay(attempt: $0, fromHalfBy: 1) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) })
        #expect(backOff.delay(attempt: .max, fromHalfBy: 1) == .seconds(300))
    }

    @Test func jitterTakesUpToHalf() {
        let backOff = BackOff(base: .seconds(1), ceiling: .seconds(300))
        #expect(backOff.delay(attempt: 2, fromHalfBy: 0) == .seconds(2))
        #expect(backOff.delay(attempt: 2, fromHalfBy: 0.5) == .seconds(3))
    }

    @Test func aBaseAboveTheCeilingIsCut() {
        let backOff = BackOff(base: .seconds(9), ceiling: .seconds(5))
        #expect(backOff.delay(attempt: 0, fromHalfBy: 1) == .seconds(5))
    }
}
