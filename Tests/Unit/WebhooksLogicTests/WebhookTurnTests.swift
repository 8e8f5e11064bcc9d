import Testing
import WebhooksLogic

@Suite struct WebhookTurnTests {
    private let start = ContinuousClock.now

    @Test func noRequestIsBegunAfterItsTime() {
        let turn = WebhookTurn(failures: 0, now: start)
        #expect(!turn.isOver(at: start))
        #expect(!turn.isOver(at: start + WebhookTurn.longest - .nanoseconds(1)))
        #expect(turn.isOver(at: start + WebhookTurn.longest))
    }

    @Test func failuresAreCountedOnFromTheTurnBefore() {
        var turn = WebhookTurn(failures: 7, now: start)
        turn.failed()
        #expect(turn.failures == 8)
    }

    @Test func afterASuccessThePausesBeginAnew() {
        let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(300))
        var turn = WebhookTurn(failures: 10, now: start)
        turn.succeeded()
        turn.failed()
        #expect(schedule.pause(after: turn.failures, draw: 1) == .seconds(1))
    }
}
