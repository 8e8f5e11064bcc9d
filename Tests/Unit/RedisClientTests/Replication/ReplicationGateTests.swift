import NIOCore
import Testing

@testable import RedisClient

@Suite struct ReplicationGateTests {
    private typealias Verdict = ReplicationGate.Verdict

    private static func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds)
    }

    /// A gate that keeps answers with these deadlines, in milliseconds.
    private static func gate(_ deadlines: Int64..., replicas: Int = 1) -> ReplicationGate {
        var gate = ReplicationGate(replicas: replicas)
        for deadline in deadlines { gate.keep(until: time(deadline)) }
        return gate
    }

    @Test func oneQuestionCoversAllAnswersBeforeIt() {
        var gate = Self.gate(500, 510)
        #expect(gate.ask(Self.time(10)) == 500)
        gate.keep(until: Self.time(520))
        #expect(gate.ask(Self.time(20)) == nil, "a question is under way")
        #expect(gate.answered(1) == Verdict(count: 2, isReplicated: true))
        #expect(gate.count == 1 && gate.nextDeadline == Self.time(520))
        #expect(gate.ask(Self.time(30)) == 490)
        #expect(gate.answered(1) == Verdict(count: 1, isReplicated: true))
        #expect(gate.ask(Self.time(40)) == nil && gate.nextDeadline == nil)
    }

    @Test(arguments: [(1, 0, false), (1, 1, true), (2, 1, false), (2, 2, true), (2, 3, true)] as [(Int, Int64, Bool)])
    func enoughReplicas(needed: Int, acknowledged: Int64, isEnough: Bool) {
        var gate = Self.gate(500, replicas: needed)
        _ = gate.ask(Self.time(0))
        #expect(gate.answered(acknowledged) == Verdict(count: 1, isReplicated: isEnough))
    }

    @Test func timeOfAQuestion() {
        var empty = Self.gate()
        #expect(empty.ask(Self.time(0)) == nil)
        var late = Self.gate(500)
        #expect(late.ask(Self.time(700)) == 1, "0 would have no limit")
        var gate = Self.gate(500)
        #expect(gate.ask(Self.time(499) + .microseconds(500)) == 1, "rounded up")
    }

    @Test func whatIsTooLateFails() {
        var gate = Self.gate(500, 510)
        _ = gate.ask(Self.time(10))
        gate.keep(until: Self.time(600))
        #expect(gate.expire(Self.time(499)) == 0)
        #expect(gate.expire(Self.time(500)) == 1)
        #expect(gate.answered(1) == Verdict(count: 1, isReplicated: true), "the question still covers the second")
        #expect(gate.count == 1)
        #expect(gate.expire(Self.time(600)) == 1)
        #expect(gate.count == 0)
    }

    @Test func answersThatAreAllTooLateLeaveNothingToAQuestion() {
        var gate = Self.gate(500)
        _ = gate.ask(Self.time(0))
        gate.keep(until: Self.time(550))
        #expect(gate.expire(Self.time(550)) == 2)
        gate.keep(until: Self.time(1100))
        #expect(gate.answered(1) == Verdict(count: 0, isReplicated: true), "it came after the question")
        #expect(gate.count == 1)
    }

    @Test func aLostQuestionFailsWhatItCovered() {
        var gate = Self.gate(500)
        _ = gate.ask(Self.time(0))
        gate.keep(until: Self.time(510))
        #expect(gate.lost() == Verdict(count: 1, isReplicated: false))
        #expect(gate.ask(Self.time(100)) == 410)
        var idle = Self.gate(500)
        #expect(idle.lost() == Verdict(count: 0, isReplicated: false), "nothing was asked yet")
        #expect(idle.count == 1)
    }

    /// The commands' connection is lost while a question is under way; those sent anew are not covered by it.
    @Test func whatIsForgottenIsCoveredByNothing() {
        var gate = Self.gate(500, 510)
        _ = gate.ask(Self.time(0))
        gate.forget()
        #expect(gate.count == 0 && gate.isAsking)
        gate.keep(until: Self.time(600))
        #expect(gate.ask(Self.time(100)) == nil)
        #expect(gate.answered(1) == Verdict(count: 0, isReplicated: true))
        #expect(gate.ask(Self.time(100)) == 500)
    }

    @Test func aServerThatDoesNotAnswerIsGivenASecondMore() {
        var gate = Self.gate(500)
        #expect(!gate.isOverdue(Self.time(9000)), "nothing was asked")
        _ = gate.ask(Self.time(0))
        #expect(gate.expire(Self.time(500)) == 1)
        #expect(!gate.isOverdue(Self.time(1499)))
        #expect(gate.isOverdue(Self.time(1500)))
        #expect(gate.lost() == Verdict(count: 0, isReplicated: false))
        #expect(!gate.isOverdue(Self.time(9000)))
    }
}
