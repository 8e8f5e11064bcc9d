import GatewayLogic
import NIOCore
import Pacing
import Testing

@testable import GatewayServer

@Suite struct LocalTimeTests {
    @Test func itIsTheClockOfTheEventLoops() {
        let before = NIODeadline.now()
        let now = LocalTime.now
        #expect(before <= now.deadline && now.deadline <= .now())
    }

    @Test(arguments: [NIODeadline.uptimeNanoseconds(0), .uptimeNanoseconds(1_700_000_000_001)])
    func aDeadlineComesBack(deadline: NIODeadline) {
        #expect(LocalTime(deadline).deadline == deadline)
        #expect(LocalTime(deadline).nanoseconds == Int64(deadline.uptimeNanoseconds))
    }
}
