import Pacing
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct HookBreakerTests {
    private static let second = LocalTime.Span(.seconds(1))

    /// Asks and takes the outcome at once.
    private func play(_ breaker: inout HookBreaker, _ outcome: Breaker.Outcome, at now: LocalTime) throws {
        let isProbe = try breaker.ask(now: now)
        breaker.answered(outcome, isProbe: isProbe, now: now)
    }

    @Test func noMoreThanTheBoundAreUnderWay() {
        var breaker = HookBreaker(bound: 2)
        #expect(breaker.refusal(at: 0) == nil)
        #expect(breaker.refusal(at: 0) == nil)
        #expect(breaker.refusal(at: 0) == .busy)
        #expect(breaker.underWay == 2)
        breaker.answered(.reached, isProbe: false, now: 0)
        #expect(breaker.refusal(at: 0) == nil)
    }

    @Test func failuresInARowOpenIt() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1..<HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        // A success begins anew.
        try play(&breaker, .reached, at: 0)
        for _ in 1..<HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        #expect(!breaker.isOpen)
        try play(&breaker, .failed, at: 0)
        #expect(breaker.isOpen)
        #expect(breaker.refusal(at: 0) == .open)
        #expect(breaker.underWay == 0)
    }

    /// A client that sends two messages at once leaves the second question less than its time:
    /// that tells nothing of the server.
    @Test func aQuestionThatTellsNothingDoesNotBeginAnew() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1..<HookBreaker.failuresBound {
            try play(&breaker, .failed, at: 0)
            try play(&breaker, .unknown, at: 0)
        }
        #expect(!breaker.isOpen)
        try play(&breaker, .failed, at: 0)
        #expect(breaker.isOpen)
    }

    @Test func questionsThatTellNothingDoNotOpenIt() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1...(2 * HookBreaker.failuresBound) { try play(&breaker, .unknown, at: 0) }
        #expect(!breaker.isOpen)
    }

    @Test func aProbeThatTellsNothingKeepsThePause() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1...HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        let due = LocalTime(nanoseconds: 0) + Self.second
        try play(&breaker, .unknown, at: due)
        let next = due + Self.second
        #expect(breaker.refusal(at: LocalTime(nanoseconds: next.nanoseconds - 1)) == .open)
        #expect(try breaker.ask(now: next))
    }

    @Test func afterThePauseOneQuestionProbes() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1...HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        let due = LocalTime(nanoseconds: 0) + Self.second
        #expect(breaker.refusal(at: LocalTime(nanoseconds: due.nanoseconds - 1)) == .open)
        #expect(try breaker.ask(now: due))
        #expect(breaker.refusal(at: due) == .open)
        breaker.answered(.reached, isProbe: true, now: due)
        #expect(!breaker.isOpen)
        #expect(try !breaker.ask(now: due))
    }

    @Test func thePauseDoublesUpToItsBound() throws {
        var breaker = HookBreaker(bound: 9)
        for _ in 1...HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        var now = LocalTime(nanoseconds: 0) + Self.second
        for seconds in [2, 4, 8, 16, 30, 30] {
            try play(&breaker, .failed, at: now)
            let next = now + LocalTime.Span(.seconds(seconds))
            #expect(breaker.refusal(at: LocalTime(nanoseconds: next.nanoseconds - 1)) == .open, "\(seconds) s")
            now = next
        }
    }

    @Test func anAnswerToAQuestionFromBeforeThePauseDoesNotEndIt() throws {
        var breaker = HookBreaker(bound: 9)
        let early = try breaker.ask(now: 0)
        for _ in 1...HookBreaker.failuresBound { try play(&breaker, .failed, at: 0) }
        breaker.answered(.reached, isProbe: early, now: 0)
        #expect(breaker.isOpen)
        let due = LocalTime(nanoseconds: 0) + Self.second
        _ = try breaker.ask(now: due)
        #expect(breaker.underWay == 1)
    }
}

extension HookBreaker {
    /// Why a question is not asked; nil when it is.
    fileprivate mutating func refusal(at now: LocalTime) -> HookFailure? {
        do throws(HookFailure) {
            _ = try ask(now: now)
            return nil
        } catch {
            return error
        }
    }
}
