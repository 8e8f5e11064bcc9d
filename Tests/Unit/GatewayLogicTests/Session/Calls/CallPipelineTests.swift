import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct CallPipelineTests {
    private func call(_ number: Int, _ ordering: CallPipeline.Ordering, bytes: Int = 0) -> QueuedCall {
        QueuedCall(
            ticket: CallTicket(id: "\(number)", ordering: ordering, arrivedAt: 0),
            call: .failure(SignalingError(.failed, .busy, "only its turn matters here")), bytes: bytes)
    }

    @Test func messagesOverlapAndOtherCallsWait() {
        var calls = CallPipeline(held: false)
        #expect(calls.enter(call(1, .message)) == .start)
        #expect(calls.enter(call(2, .message)) == .start)
        #expect(calls.enter(call(3, .exclusive)) == .wait)
        #expect(calls.enter(call(4, .message)) == .wait)
        calls.completed(.message)
        #expect(calls.next() == nil)
        calls.completed(.message)
        #expect(calls.next()?.ticket.id == "3")
        #expect(calls.next() == nil)
        calls.completed(.exclusive)
        #expect(calls.next()?.ticket.id == "4")
        #expect(calls.next() == nil)
    }

    @Test func noCallOvertakesAWaitingOne() {
        var calls = CallPipeline(held: false)
        #expect(calls.enter(call(1, .exclusive)) == .start)
        #expect(calls.enter(call(2, .message)) == .wait)
        calls.completed(.exclusive)
        // A further call arrives before the waiting one was taken from the queue.
        #expect(calls.enter(call(3, .message)) == .wait)
        #expect(calls.next()?.ticket.id == "2")
        #expect(calls.next()?.ticket.id == "3")
        #expect(calls.enter(call(4, .exclusive)) == .wait)
    }

    @Test func aHeldPipelineStartsNothingBeforeItsRelease() {
        var calls = CallPipeline(held: true)
        #expect(calls.enter(call(1, .exclusive)) == .wait)
        #expect(calls.enter(call(2, .message)) == .wait)
        #expect(calls.next() == nil)
        calls.release()
        #expect(calls.next()?.ticket.id == "1")
        #expect(calls.next() == nil)
        calls.completed(.exclusive)
        #expect(calls.next()?.ticket.id == "2")
    }

    @Test func noCallStartsWhileThePipelineIsPaused() {
        var calls = CallPipeline(held: false)
        calls.isPaused = true
        #expect(calls.enter(call(1, .message, bytes: 7)) == .wait)
        #expect(calls.enter(call(2, .exclusive, bytes: 5)) == .wait)
        #expect(calls.waitingBytes == 12)
        #expect(calls.next() == nil)
        calls.isPaused = false
        #expect(calls.next()?.ticket.id == "1")
        #expect(calls.waitingBytes == 5)
        calls.abandon()
        #expect(calls.waitingBytes == 0)
    }

    @Test func theQueueIsBounded() {
        var calls = CallPipeline(held: true)
        for number in 0..<CallPipeline.bound { #expect(calls.enter(call(number, .message)) == .wait) }
        #expect(calls.enter(call(-1, .message)) == .full)
    }

    @Test func nothingIsLeftOfAnAbandonedQueue() {
        var calls = CallPipeline(held: true)
        #expect(calls.enter(call(1, .message)) == .wait)
        calls.abandon()
        calls.release()
        #expect(calls.next() == nil)
    }
}
