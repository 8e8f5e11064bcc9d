import GatewayLogic
import Testing

@Suite struct CallPipelineTests {
    @Test func messagesOverlapAndTheRestWaits() {
        var calls = CallPipeline<Int>(held: false)
        #expect(calls.enqueue(1, .message) == [1])
        #expect(calls.enqueue(2, .message) == [2])
        #expect(calls.enqueue(3, .exclusive) == [])
        #expect(calls.enqueue(4, .message) == [])
        #expect(calls.completed(.message) == [])
        #expect(calls.completed(.message) == [3])
        #expect(calls.completed(.exclusive) == [4])
    }

    @Test func aHeldPipelineStartsNothingBeforeItsRelease() {
        var calls = CallPipeline<Int>(held: true)
        #expect(calls.enqueue(1, .exclusive) == [])
        #expect(calls.enqueue(2, .message) == [])
        #expect(calls.release() == [1])
        #expect(calls.completed(.exclusive) == [2])
    }

    @Test func theQueueIsBounded() {
        var calls = CallPipeline<Int>(held: true)
        for call in 0..<CallPipeline<Int>.bound { #expect(calls.enqueue(call, .message) != nil) }
        #expect(calls.enqueue(-1, .message) == nil)
    }
}

@Suite struct RateLimitTests {
    @Test func theBoundHoldsWithinASecondAndOpensAfterIt() {
        var limit = RateLimit(perSecond: 60)
        for _ in 0..<60 { #expect(limit.admit(now: 5) == true) }
        #expect(limit.admit(now: 5) == false)
        #expect(limit.admit(now: 1004) == false)
        #expect(limit.admit(now: 1005) == true)
    }
}
