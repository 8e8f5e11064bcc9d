import Testing
import WebhooksLogic

@Suite struct RetryScheduleTests {
    private let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(300))

    @Test func pausesDoubleUpToTheLongest() {
        let pauses = (1...11).map { schedule.pause(after: $0, draw: 1) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) })
        #expect(schedule.pause(after: .max, draw: 1) == .seconds(300))
        #expect(schedule.pause(after: 0, draw: 1) == .seconds(1))
    }

    @Test func jitterTakesUpToHalf() {
        #expect(schedule.pause(after: 3, draw: 0) == .seconds(2))
        #expect(schedule.pause(after: 3, draw: 0.5) == .seconds(3))
    }

    @Test func aFirstPauseAboveTheLongestIsCut() {
        #expect(RetrySchedule(first: .seconds(9), longest: .seconds(5)).pause(after: 1, draw: 1) == .seconds(5))
    }
}
