import CMediaNode
import Testing

@testable import MediaServer

@Suite struct MediaMetricsTests {
    @Test func eachReasonOfTheLoopHasALabel() {
        #expect(Set(MediaDrop.allCases.map(\.code.rawValue)) == Set(0..<CM_DROP_COUNT.rawValue))
        #expect(Set(MediaHappening.allCases.map(\.code.rawValue)) == Set(0..<CM_EVENT_COUNT.rawValue))
    }

    @Test func countsOfTheLoopHaveTheBucketsOfTheHistogram() {
        var counts = cm_node_counts()
        counts.delays.0 = 2
        counts.delays.11 = 1
        counts.delay_sum = 300_000
        counts.uplink.jitters.0 = 1
        counts.downlink.jitters.11 = 1
        let counting = MediaCounting()
        // Traps when the loop has another number of buckets.
        counting.take(counts)
        counting.take(counts)
        let limits = (0..<UInt32(CM_DELAY_BUCKETS)).map { cm_node_delay_limit($0) }
        #expect(limits == [50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 0])
    }
}
