import TestKit
import Testing

@testable import SIPBridgeLogic

@Suite("RTP time-outs")
struct MediaWatchTests {
    @Test("The first packet may take 30 s, later ones 60 s")
    func limits() {
        var watch = MediaWatch(now: 1000, isExpecting: true)
        #expect(!watch.isExpired(now: 30_999))
        #expect(watch.isExpired(now: 31_000))
        watch.received(now: 30_000)
        #expect(!watch.isExpired(now: 89_999))
        #expect(watch.isExpired(now: 90_000))
    }

    @Test("A hold does not time out, and restarts the wait")
    func hold() {
        var watch = MediaWatch(now: 0, isExpecting: true)
        watch.received(now: 0)
        watch.setExpecting(false, now: 50_000)
        #expect(!watch.isExpired(now: 1_000_000))
        watch.setExpecting(true, now: 1_000_000)
        watch.setExpecting(true, now: 1_030_000)
        #expect(!watch.isExpired(now: 1_059_999))
        #expect(watch.isExpired(now: 1_060_000))
        #expect(!MediaWatch(now: 0, isExpecting: false).isExpired(now: 1_000_000_000))
    }
}
