import Pacing
import SIPBridgeLogic
import TestKit
import Testing

@Suite struct StrangerLimitTests {
    @Test func afterSomeRefusalsComesSilence() {
        var limit = StrangerLimit()
        for _ in 0..<10 { #expect(limit.refused("1.2.3.4", now: 0) == .refuse) }
        #expect(!limit.isSilent("1.2.3.4", now: 0))
        #expect(limit.refused("1.2.3.4", now: 0) == .silenceBegins)
        #expect(limit.isSilent("1.2.3.4", now: 0))
        #expect(limit.refused("1.2.3.4", now: 59_999) == .silence)
        // Other addresses are not affected.
        #expect(limit.refused("1.2.3.5", now: 0) == .refuse)
    }

    @Test func theSilenceEnds() {
        var limit = StrangerLimit()
        for _ in 0...10 { _ = limit.refused("a", now: 0) }
        #expect(!limit.isSilent("a", now: 60_000))
        for _ in 0..<10 { #expect(limit.refused("a", now: 60_000) == .refuse) }
        #expect(limit.refused("a", now: 60_000) == .silenceBegins)
    }

    @Test func oldRefusalsDoNotCount() {
        var limit = StrangerLimit()
        for minute in 0..<20 {
            for second in 0..<10 {
                #expect(limit.refused("a", now: LocalTime(milliseconds: Int64(minute * 60_000 + second))) == .refuse)
            }
        }
    }

    @Test func whoShowsToBeNoStrangerIsForgotten() {
        var limit = StrangerLimit()
        for _ in 0..<10 { _ = limit.refused("a", now: 0) }
        limit.admitted("a")
        #expect(limit.refused("a", now: 0) == .refuse)
    }

    @Test func theTableIsBounded() {
        var limit = StrangerLimit()
        limit.bound = 100
        for number in 0..<10_000 {
            _ = limit.refused("\(number)", now: LocalTime(milliseconds: Int64(number)))
            #expect(limit.count <= 100)
        }
        // The most recent addresses are remembered.
        for _ in 0..<9 { _ = limit.refused("9999", now: 10_000) }
        #expect(limit.refused("9999", now: 10_000) == .silenceBegins)
    }

    @Test func manyAtOneMomentDoNotFillIt() {
        var limit = StrangerLimit()
        limit.bound = 10
        for number in 0..<100 { _ = limit.refused("\(number)", now: 0) }
        #expect(limit.count <= 10)
    }
}
