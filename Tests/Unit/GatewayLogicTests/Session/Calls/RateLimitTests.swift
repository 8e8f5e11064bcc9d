import GatewayLogic
import TestKit
import Testing

@Suite struct RateLimitTests {
    @Test func theBoundHoldsWithinASecondAndOpensAfterIt() {
        var limit = RateLimit(perSecond: 60)
        for _ in 0..<60 { #expect(limit.admit(now: 5) == true) }
        #expect(limit.admit(now: 5) == false)
        #expect(limit.admit(now: 1004) == false)
        #expect(limit.admit(now: 1005) == true)
    }
}
