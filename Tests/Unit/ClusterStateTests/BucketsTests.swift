import Testing

@testable import ClusterState

@Suite struct BucketsTests {
    @Test func eachTagLiesInItsBucketsSlot() {
        var seen: Set<String> = []
        for bucket in 0..<Buckets.count {
            let tag = Buckets.shared.tag(bucket)
            #expect((1...4).contains(tag.utf8.count))
            #expect(KeySlot.of("{\(tag)}a:APP:u:alice:session") == bucket * 4)
            #expect(Buckets.slot(ofBucket: bucket) == bucket * 4)
            seen.insert(tag)
        }
        #expect(seen.count == Buckets.count)
    }

    /// The tags stand in stored keys: a build that finds others would not find its data.
    @Test func tagsNeverChange() {
        #expect([0, 1, 2048, 4095].map { Buckets.shared.tag($0) } == ["1bz", "53p", "fjl", "wu"])
        let all = (0..<Buckets.count).map { Buckets.shared.tag($0) }.joined(separator: " ")
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325  // FNV-1a
        for byte in all.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        #expect(digest == 14_448_885_319_911_535_855)
    }

    @Test func bucketOfAName() {
        #expect(Buckets.bucket(of: "123456789") == 0x1C3)
        #expect(Buckets.bucket(of: "a:APP:u:alice") == 347)
    }

    @Test(arguments: [1, 2, 3, 5, 24, 48, 96, 1000, 4096])
    func partitionsCoverAllSlots(_ count: Int) {
        let partitions = Partitions(count: count)
        var last = -1
        for slot in 0..<UInt16(KeySlot.count) {
            let partition = partitions.partition(ofSlot: slot)
            #expect(partition == last || partition == last + 1)
            last = partition
        }
        #expect(last == count - 1)
    }

    @Test(arguments: [1, 2, 3, 5, 24, 48, 96, 1000, 4096])
    func aPartitionsKeysLieInItsRange(_ count: Int) {
        let partitions = Partitions(count: count)
        for partition in 0..<count {
            let bucket = partitions.bucket(ofPartition: partition)
            #expect(partitions.partition(ofSlot: Buckets.slot(ofBucket: bucket)) == partition)
            // It is the first.
            #expect(
                bucket == 0 || partitions.partition(ofSlot: Buckets.slot(ofBucket: bucket - 1)) == partition - 1)
        }
    }

    /// With a multiple of the masters as their number, no partition is divided between two masters.
    @Test(arguments: [2, 3, 4, 6, 8, 12])
    func partitionsAreWholeOnEqualMasters(_ masters: Int) {
        let partitions = Partitions(count: 24)
        var owner: [Int: Set<Int>] = [:]
        for bucket in 0..<Buckets.count {
            let slot = Buckets.slot(ofBucket: bucket)
            // As redis-cli --cluster create divides the slots: rounded to the nearest.
            let master = Int((Double(slot) + 0.5) * Double(masters) / Double(KeySlot.count))
            owner[partitions.partition(ofSlot: slot), default: []].insert(master)
        }
        #expect(owner.values.allSatisfy { $0.count == 1 })
    }
}
