import Testing

@testable import GatewayLogic

@Suite struct HookGateTests {
    private static let second = LocalTime.Span(.seconds(1))

    /// Asks and takes the outcome at once.
    private func play(_ gate: inout HookGate, _ outcome: HookGate.Outcome, at now: LocalTime) throws {
        let isTrial = try gate.ask(now: now)
        gate.answered(outcome, isTrial: isTrial, now: now)
    }

    @Test func noMoreThanTheBoundAreUnderWay() {
        var gate = HookGate(bound: 2)
        #expect(gate.refusal(at: 0) == nil)
        #expect(gate.refusal(at: 0) == nil)
        #expect(gate.refusal(at: 0) == .busy)
        #expect(gate.underWay == 2)
        gate.answered(.reached, isTrial: false, now: 0)
        #expect(gate.refusal(at: 0) == nil)
    }

    @Test func failuresInARowLeaveTheServerAlone() throws {
        var gate = HookGate(bound: 9)
        for _ in 1..<HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        // A success begins anew.
        try play(&gate, .reached, at: 0)
        for _ in 1..<HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        #expect(!gate.isOpen)
        try play(&gate, .failed, at: 0)
        #expect(gate.isOpen)
        #expect(gate.refusal(at: 0) == .open)
        #expect(gate.underWay == 0)
    }

    /// A client that sends two messages at once leaves the second question less than its time:
    /// that tells nothing of the server.
    @Test func aQuestionThatTellsNothingDoesNotBeginAnew() throws {
        var gate = HookGate(bound: 9)
        for _ in 1..<HookGate.failuresBound {
            try play(&gate, .failed, at: 0)
            try play(&gate, .unknown, at: 0)
        }
        #expect(!gate.isOpen)
        try play(&gate, .failed, at: 0)
        #expect(gate.isOpen)
    }

    @Test func questionsThatTellNothingDoNotLeaveTheServerAlone() throws {
        var gate = HookGate(bound: 9)
        for _ in 1...(2 * HookGate.failuresBound) { try play(&gate, .unknown, at: 0) }
        #expect(!gate.isOpen)
    }

    @Test func aTrialThatTellsNothingKeepsThePause() throws {
        var gate = HookGate(bound: 9)
        for _ in 1...HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        let due = LocalTime(nanoseconds: 0) + HookGate.firstPause
        try play(&gate, .unknown, at: due)
        let next = due + HookGate.firstPause
        #expect(gate.refusal(at: LocalTime(nanoseconds: next.nanoseconds - 1)) == .open)
        #expect(try gate.ask(now: next))
    }

    @Test func afterThePauseOneQuestionTries() throws {
        var gate = HookGate(bound: 9)
        for _ in 1...HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        let due = LocalTime(nanoseconds: 0) + HookGate.firstPause
        #expect(gate.refusal(at: LocalTime(nanoseconds: due.nanoseconds - 1)) == .open)
        #expect(try gate.ask(now: due))
        #expect(gate.refusal(at: due) == .open)
        gate.answered(.reached, isTrial: true, now: due)
        #expect(!gate.isOpen)
        #expect(try !gate.ask(now: due))
    }

    @Test func thePauseDoublesUpToItsBound() throws {
        var gate = HookGate(bound: 9)
        for _ in 1...HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        var now = LocalTime(nanoseconds: 0) + HookGate.firstPause
        for seconds in [2, 4, 8, 16, 30, 30] {
            try play(&gate, .failed, at: now)
            let next = now + LocalTime.Span(.seconds(seconds))
            #expect(gate.refusal(at: LocalTime(nanoseconds: next.nanoseconds - 1)) == .open, "\(seconds) s")
            now = next
        }
    }

    @Test func anAnswerToAQuestionFromBeforeThePauseDoesNotEndIt() throws {
        var gate = HookGate(bound: 9)
        let early = try gate.ask(now: 0)
        for _ in 1...HookGate.failuresBound { try play(&gate, .failed, at: 0) }
        gate.answered(.reached, isTrial: early, now: 0)
        #expect(gate.isOpen)
        let due = LocalTime(nanoseconds: 0) + HookGate.firstPause
        _ = try gate.ask(now: due)
        #expect(gate.underWay == 1)
    }
}

extension HookGate {
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
