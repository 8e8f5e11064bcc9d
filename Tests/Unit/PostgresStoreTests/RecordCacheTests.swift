import PostgresStore
import Testing

@Suite struct RecordCacheTests {
    private static let start = ContinuousClock.now

    private static func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func anEntryIsFreshForASecond() {
        var cache = RecordCache<String, Int>()
        #expect(cache.find("a", now: Self.at(0)) == .missing)
        cache.store(7, for: "a", readAt: Self.at(0))
        #expect(cache.find("a", now: Self.at(999)) == .fresh(7))
        #expect(cache.find("a", now: Self.at(1000)) == .stale(7, readAt: Self.at(0)))
    }

    @Test func wrongKeysAreRememberedToo() {
        var cache = RecordCache<String, Int>()
        cache.store(nil, for: "a", readAt: Self.at(0))
        #expect(cache.find("a", now: Self.at(1)) == .fresh(nil))
    }

    @Test func aFloodOfWrongKeysDoesNotPushOutRecords() {
        var cache = RecordCache<String, Int>(bound: 100)
        cache.store(7, for: "a", readAt: Self.at(0))
        for number in 0..<200 { cache.store(nil, for: "x\(number)", readAt: Self.at(1)) }
        #expect(cache.find("a", now: Self.at(5000)) == .stale(7, readAt: Self.at(0)))
    }
}
