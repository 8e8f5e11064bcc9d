import GatewayLogic
import Testing

@Suite struct OutputBoundTests {
    private static let half = 50_000

    @Test func readingStopsWhileHalfOfTheBoundWaits() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(Self.half - OutputBound.writeOverhead, isAnswer: false)
        #expect(output.enforce() == .none)
        output.queued(1, isAnswer: false)
        #expect(output.enforce() == .pause)
        #expect(output.isPaused)
        #expect(output.enforce() == .none)
        #expect(output.written(1) == .resume)
        #expect(!output.isPaused)
        #expect(output.written(Self.half - OutputBound.writeOverhead) == .none)
        #expect(output.waiting == 0)
    }

    @Test func moreThanTheBoundIsCutOff() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(2 * Self.half - OutputBound.writeOverhead, isAnswer: false)
        #expect(output.enforce() == .pause)
        output.queued(0, isAnswer: false)
        #expect(output.enforce() == .cutOff)
    }

    @Test func whatGoesOutAtOnceIsNotJudged() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(10 * Self.half, isAnswer: false)
        #expect(output.written(10 * Self.half) == .none)
        #expect(output.enforce() == .none)
    }

    @Test func oneLargeAnswerWaitsByItself() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(20 * Self.half, isAnswer: true)
        #expect(output.enforce() == .pause)
        // Events are still held to their usual bound.
        output.queued(Self.half, isAnswer: false)
        #expect(output.enforce() == .none)
        output.queued(Self.half, isAnswer: false)
        #expect(output.enforce() == .cutOff)
    }

    @Test func theAnswersRoomGoesWithIt() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(20 * Self.half, isAnswer: true)
        _ = output.enforce()
        #expect(output.written(20 * Self.half) == .resume)
        output.queued(2 * Self.half, isAnswer: false)
        #expect(output.enforce() == .cutOff)
    }

    @Test func manySmallWritesCountForWhatTheyTake() {
        var output = OutputBound(bound: 65_536)
        var writes = 0
        while output.enforce() != .cutOff {
            output.queued(1, isAnswer: false)
            writes += 1
        }
        #expect(writes <= 65_536 / OutputBound.writeOverhead + 1)
    }

    @Test func anAnswerOfHalfTheBoundHasNoRoomOfItsOwn() {
        var output = OutputBound(bound: 2 * Self.half)
        output.queued(Self.half, isAnswer: true)
        output.queued(Self.half, isAnswer: false)
        #expect(output.enforce() == .cutOff)
    }
}
