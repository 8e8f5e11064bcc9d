import CMedia
import Testing

@Suite struct RingTests {
    private func bytes(_ kept: UnsafePointer<cm_kept>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: cm_kept_data(kept), count: Int(kept.pointee.size)))
    }

    // Functions, because `#expect` ends the life of an array that is made in the arguments of a call of C before it
    // makes the call.

    private func put(_ ring: Kept<cm_ring>, _ sequence: UInt16, _ bytes: [UInt8] = [1], at now: UInt64 = 10) -> Bool {
        cm_ring_put(ring.pointer, sequence, bytes, bytes.count, now)
    }

    private func put(_ recent: Kept<cm_recent>, _ sequence: UInt16, _ bytes: [UInt8] = [1], at now: UInt64) -> Bool {
        cm_recent_put(recent.pointer, sequence, bytes, bytes.count, now)
    }

    @Test func packetsAreFoundByNumber() throws {
        let ring = Kept<cm_ring>()
        for number in 0..<600 {
            #expect(put(ring, UInt16(truncatingIfNeeded: 65_300 + number), big(UInt16(number))))
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
        #expect(put(ring, 1, at: 1000))
        #expect(cm_ring_find(ring.pointer, 1, 1000 + UInt64(CM_RING_AGE)) != nil)
        #expect(cm_ring_find(ring.pointer, 1, 1001 + UInt64(CM_RING_AGE)) == nil)
        #expect(cm_ring_find(ring.pointer, 1, 0) != nil, "a packet of later")
        #expect(put(ring, 2, [UInt8](repeating: 0, count: 1500), at: 0))
        #expect(!put(ring, 2, [UInt8](repeating: 0, count: 1501), at: 0))
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
            #expect(put(recent, UInt16(sequence), at: UInt64(index) * 20_000))
        }
        // One overtook the other.
        #expect(listed(60_000) == [65_534, 65_535, 0])
        #expect(listed(20_001 + UInt64(CM_RECENT_AGE)) == [65_535, 0])
        #expect(listed(1_000_000) == [])
        #expect(!put(recent, 1, [UInt8](repeating: 0, count: 1501), at: 0))
    }

    @Test func whatWasSaidIsForgotten() {
        let recent = Kept<cm_recent>()
        for sequence: UInt16 in 1...3 { #expect(put(recent, sequence, [77], at: 1000)) }
        cm_recent_clear(recent.pointer)
        var list = [UnsafePointer<cm_kept>?](repeating: nil, count: Int(CM_RECENT_PACKETS))
        #expect(cm_recent_list(recent.pointer, 1000, &list) == 0)
        #expect(withUnsafeBytes(of: recent.pointer.pointee) { $0.allSatisfy { $0 == 0 } }, "its bytes too")
        #expect(put(recent, 9, at: 1000))
        #expect(cm_recent_list(recent.pointer, 1000, &list) == 1 && list[0]?.pointee.sequence == 9)
    }

    /// The numbers of all packets behind one.
    private func following(_ sequence: UInt16, in ring: Kept<cm_ring>, _ now: UInt64 = 10) -> [UInt16] {
        var numbers: [UInt16] = []
        var last = sequence
        while let kept = cm_ring_next(ring.pointer, last, now) {
            last = kept.pointee.sequence
            numbers.append(last)
        }
        return numbers
    }

    @Test func whatFollowsAPacketIsListed() {
        let ring = Kept<cm_ring>()
        #expect(following(0, in: ring) == [])
        for sequence: UInt16 in [65_530, 65_531, 65_535, 0, 2, 65_533, 1] {
            #expect(put(ring, sequence))
        }
        #expect(following(65_531, in: ring) == [65_533, 65_535, 0, 1, 2])
        #expect(following(2, in: ring) == [] && following(40, in: ring) == [])
        #expect(following(65_531, in: ring, 11 + UInt64(CM_RING_AGE)) == [], "all too old")
        // As far back as the ring goes, and no further.
        for sequence: UInt16 in 3..<1000 { #expect(put(ring, sequence)) }
        #expect(following(600 - UInt16(CM_RING_PACKETS), in: ring) == Array(488...999))
        #expect(following(500, in: ring) == Array(501...999))
        // A source that begins anew with lower numbers.
        for sequence: UInt16 in 60_000...60_002 { #expect(put(ring, sequence)) }
        #expect(following(60_000, in: ring) == [60_001, 60_002])
    }

    @Test func withoutARingNothingIsKept() {
        let byte: [UInt8] = [1]
        #expect(!cm_ring_put(nil, 1, byte, 1, 10))
        #expect(cm_ring_find(nil, 1, 10) == nil)
        #expect(cm_ring_next(nil, 0, 10) == nil)
    }
}
