import BusProtocol
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct CallPipelineTests {
    private func call(_ number: Int, _ ordering: CallPipeline.Ordering, bytes: Int = 0) -> QueuedCall {
        QueuedCall(
            ticket: CallTicket(id: "\(number)", ordering: ordering, arrivedAt: 0),
            call: .failure(SignalingError(.failed, .busy, "only its turn matters here")), bytes: bytes)
    }

    private func enter(_ call: QueuedCall, _ calls: inout CallPipeline) -> CallPipeline.Entry {
        var call = call
        return calls.enter(&call)
    }

    /// Starts a message, which nothing may hold back.
    private func start(_ number: Int, _ calls: inout CallPipeline) -> CallTicket {
        var message = call(number, .message)
        #expect(calls.enter(&message) == .start)
        return message.ticket
    }

    @Test func messagesOverlapAndOtherCallsWait() {
        var calls = CallPipeline(held: false)
        #expect(enter(call(1, .message), &calls) == .start)
        #expect(enter(call(2, .message), &calls) == .start)
        #expect(enter(call(3, .exclusive), &calls) == .wait)
        #expect(enter(call(4, .message), &calls) == .wait)
        calls.completed(.message)
        #expect(calls.next() == nil)
        calls.completed(.message)
        #expect(calls.next()?.ticket.id == "3")
        #expect(calls.next() == nil)
        calls.completed(.exclusive)
        #expect(calls.next()?.ticket.id == "4")
        #expect(calls.next() == nil)
    }

    @Test func answersAreOwedFromTheArrivalOfACallToItsAnswer() {
        var calls = CallPipeline(held: true)
        #expect(calls.owesAnswers == false)
        #expect(enter(call(1, .exclusive), &calls) == .wait)
        #expect(calls.owesAnswers == true, "it waits")
        calls.release()
        #expect(calls.next() != nil)
        #expect(calls.owesAnswers == true, "it is carried out")
        calls.completed(.exclusive)
        #expect(calls.owesAnswers == false)
        #expect(enter(call(2, .message), &calls) == .start)
        #expect(calls.owesAnswers == true)
        calls.completed(.message)
        #expect(calls.owesAnswers == false)
    }

    @Test func anEarlyAnswerIsKeptUntilItsTurn() {
        var calls = CallPipeline(held: false)
        var tickets: [CallTicket] = []
        for number in 1...4 { tickets.append(start(number, &calls)) }
        #expect(tickets.map { calls.isNext($0) } == [true, false, false, false])
        calls.keep(tickets[2], .success(.done))
        calls.keep(tickets[1], .failure(.unavailable("redis")))
        #expect(calls.nextKept() == nil)
        calls.completed(.message)
        for id in ["2", "3"] {
            #expect(calls.nextKept()?.ticket.id == id)
            calls.completed(.message)
        }
        #expect(calls.nextKept() == nil)
        #expect(calls.isNext(tickets[3]) == true)
    }

    @Test func messagesThatWereDroppedBeforeTheirStartHoldNoAnswerBack() {
        var calls = CallPipeline(held: false)
        let first = start(1, &calls)
        calls.hold()
        for number in 2...3 { #expect(enter(call(number, .message), &calls) == .wait) }
        calls.abandon()
        calls.release()
        let last = start(4, &calls)
        #expect([first, last].map { calls.isNext($0) } == [true, false])
        calls.completed(.message)
        #expect(calls.isNext(last) == true)
    }

    @Test func theQueueIsBoundedAndWhatItRefusesHoldsNoAnswerBack() {
        var calls = CallPipeline(held: true)
        for number in 0..<CallPipeline.bound { #expect(enter(call(number, .message), &calls) == .wait) }
        #expect(enter(call(-1, .message), &calls) == .full)
        calls.release()
        while let started = calls.next() {
            #expect(calls.isNext(started.ticket) == true)
            calls.completed(.message)
        }
        let last = start(-2, &calls)
        #expect(calls.isNext(last) == true)
    }

    @Test func theLargestNumberIsFollowedByTheFirst() {
        #expect(CallPipeline.number(after: 0) == 1)
        #expect(CallPipeline.number(after: .max) == 0)
    }

    @Test func noCallOvertakesAWaitingOne() {
        var calls = CallPipeline(held: false)
        #expect(enter(call(1, .exclusive), &calls) == .start)
        #expect(enter(call(2, .message), &calls) == .wait)
        calls.completed(.exclusive)
        // A further call arrives before the waiting one was taken from the queue.
        #expect(enter(call(3, .message), &calls) == .wait)
        #expect(calls.next()?.ticket.id == "2")
        #expect(calls.next()?.ticket.id == "3")
        #expect(enter(call(4, .exclusive), &calls) == .wait)
    }

    @Test func aHeldPipelineStartsNothingBeforeItsRelease() {
        var calls = CallPipeline(held: true)
        #expect(enter(call(1, .exclusive), &calls) == .wait)
        #expect(enter(call(2, .message), &calls) == .wait)
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
        #expect(enter(call(1, .message, bytes: 7), &calls) == .wait)
        #expect(enter(call(2, .exclusive, bytes: 5), &calls) == .wait)
        #expect(calls.waitingBytes == 12)
        #expect(calls.next() == nil)
        calls.isPaused = false
        #expect(calls.next()?.ticket.id == "1")
        #expect(calls.waitingBytes == 5)
        calls.abandon()
        #expect(calls.waitingBytes == 0)
    }

    @Test func nothingIsLeftOfAnAbandonedQueue() {
        var calls = CallPipeline(held: true)
        #expect(enter(call(1, .message), &calls) == .wait)
        calls.abandon()
        calls.release()
        #expect(calls.next() == nil)
    }
}
