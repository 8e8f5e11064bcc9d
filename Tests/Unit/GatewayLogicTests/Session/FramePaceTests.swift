import Pacing
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct FramePaceTests {
    private let clock = ScriptedClock()

    private func pass(_ time: Duration) { clock.localTime = clock.localTime + LocalTime.Span(time) }

    /// How many frames are handled now.
    private func frames(_ pace: inout FramePace, bytes: Int = 20) -> Int {
        var count = 0
        while pace.allowsFrame(now: clock.localTime), count < 10_000 {
            pace.charge(bytes: bytes, now: clock.localTime)
            count += 1
        }
        return count
    }

    @Test func beforeTheLogin() {
        var (pace, count) = (FramePace(), 0)
        count = frames(&pace)
        #expect(count == FramePace.freshBurst && pace.isSpent)
        pass(FramePace.pause)
        count = frames(&pace)
        #expect(count == 5, "half a second's")
        pass(.seconds(100))
        count = frames(&pace)
        #expect(count == FramePace.freshBurst)
    }

    @Test func ofASession() {
        var (pace, count) = (FramePace(), 0)
        count = frames(&pace)
        #expect(count == FramePace.freshBurst)
        pace.raise()
        count = frames(&pace)
        #expect(count == FramePace.burst)
        pass(.seconds(1))
        count = frames(&pace)
        #expect(count == FramePace.perSecond)
    }

    @Test func largeFramesCountByTheirSize() {
        var (pace, count) = (FramePace(), 0)
        pace.raise()
        count = frames(&pace, bytes: 4 * FramePace.frameBytes)
        #expect(count == FramePace.burst / 5)
        pace.raise()
        for _ in 0..<10_000 { pace.chargeSize(bytes: FramePace.frameBytes - 1, now: clock.localTime) }
        #expect(!pace.isSpent, "accepted calls of a usual size cost nothing")
        for _ in 0..<FramePace.burst / 4 { pace.chargeSize(bytes: 4 * FramePace.frameBytes, now: clock.localTime) }
        #expect(pace.isSpent)
    }
}
