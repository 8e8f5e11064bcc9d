import NIOCore
import Testing

@testable import RedisClient

@Suite struct SilenceWatchTests {
    /// The verdicts of checks once a second.
    private func verdicts(_ watch: inout SilenceWatch, seconds: Range<UInt64>) -> [SilenceWatch.Verdict] {
        seconds.map { watch.check(.uptimeNanoseconds($0 * 1_000_000_000), silence: .seconds(2)) }
    }

    @Test func pingsAndThenReconnects() {
        var watch = SilenceWatch()
        watch.connected()
        #expect(verdicts(&watch, seconds: 10..<15) == [.nothing, .nothing, .ping, .nothing, .reconnect])
    }

    @Test func anythingHeardBeginsAnew() {
        var watch = SilenceWatch()
        #expect(verdicts(&watch, seconds: 10..<14) == [.nothing, .nothing, .ping, .nothing])
        watch.heard()
        #expect(verdicts(&watch, seconds: 14..<18) == [.nothing, .nothing, .ping, .nothing])
        watch.connected()
        #expect(verdicts(&watch, seconds: 18..<20) == [.nothing, .nothing])
    }
}
