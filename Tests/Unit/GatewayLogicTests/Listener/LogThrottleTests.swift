import TestKit
import Testing

@testable import GatewayLogic

@Suite struct LogThrottleTests {
    @Test func oneLineASecondTellsOfTheOthers() {
        var throttle = LogThrottle()
        #expect(throttle.admit(now: 1000) == 0)
        for _ in 0..<500 { #expect(throttle.admit(now: 1999) == nil) }
        #expect(throttle.admit(now: 2000) == 500)
        #expect(throttle.admit(now: 3000) == 0)
    }
}
