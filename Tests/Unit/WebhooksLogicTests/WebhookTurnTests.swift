import Pacing
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
        let schedule = BackOff(base: .seconds(1), ceiling: .seconds(300))
        var turn = WebhookTurn(failures: 10, now: start)
        turn.succeeded()
        turn.failed()
        #expect(schedule.delay(attempt: Int(turn.failures) - 1, fromHalfBy: 1) == .seconds(1))
    }
}
