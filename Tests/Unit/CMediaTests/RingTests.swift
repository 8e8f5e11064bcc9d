import CMedia
import Testing

@Suite struct RingTests {
    private func bytes(_ kept: UnsafePointer<cm_kept>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: cm_kept_data(kept), count: Int(kept.pointee.size)))
    }

    @Test func packetsAreFoundByNumber() throws {
        let ring = Kept<cm_ring>()
        for number in 0..<600 {
            #expect(cm_ring_put(ring.pointer, UInt16(truncatingIfNeeded: 65_300 + number), big(UInt16(number)), 2, 10))
        }
        #expect(cm_ring_find(ring.pointer, 65_300 + 87, 10) == nil, "overwritten")
        for number in 88..<600 {
            let kept = try #require(cm_ring_find(ring.pointer, UInt16(truncatingIfNeeded: 65_300 + number), 10))
            #expect(bytes(kept) == big(UInt16(number)))
        }
        #expect(cm_ring_find(ring.pointer, 5000, 10) == nil)
    }

    @Test func packetsGrowOld() {
        let ring = Kept<cm_ring>()
        #expect(cm_ring_find(ring.pointer, 0, 0) == nil, "an empty ring has no packet 0")
        #expect(cm_ring_put(ring.pointer, 1, [1], 1, 1000))
        #expect(cm_ring_find(ring.pointer, 1, 1000 + UInt64(CM_RING_AGE)) != nil)
        #expect(cm_ring_find(ring.pointer, 1, 1001 + UInt64(CM_RING_AGE)) == nil)
        #expect(cm_ring_find(ring.pointer, 1, 0) != nil, "a packet of later")
        #expect(cm_ring_put(ring.pointer, 2, [UInt8](repeating: 0, count: 1500), 1500, 0))
        #expect(!cm_ring_put(ring.pointer, 2, [UInt8](repeating: 0, count: 1501), 1501, 0))
    }

    @Test func theLastThreeAreListedInOrder() {
        let recent = Kept<cm_recent>()
        func listed(_ now: UInt64) -> [UInt16] {
            var list = [UnsafePointer<cm_kept>?](repeating: nil, count: Int(CM_RECENT_PACKETS))
            let count = cm_recent_list(recent.pointer, now, &list)
            return list[..<count].compactMap { $0?.pointee.sequence }
        }
        #expect(listed(0) == [])
        for (index, sequence) in [65_533, 65_534, 0, 65_535].enumerated() {
            #expect(cm_recent_put(recent.pointer, UInt16(sequence), [1], 1, UInt64(index) * 20_000))
        }
        // One overtook the other.
        #expect(listed(60_000) == [65_534, 65_535, 0])
        #expect(listed(20_001 + UInt64(CM_RECENT_AGE)) == [65_535, 0])
        #expect(listed(1_000_000) == [])
        #expect(!cm_recent_put(recent.pointer, 1, [UInt8](repeating: 0, count: 1501), 1501, 0))
    }
}
