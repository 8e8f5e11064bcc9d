import Dispatch
import Testing

@testable import MediaClient

@Suite struct AudioRingTests {
    @Test func samplesComeOutInOrderAcrossTheEnd() {
        let ring = AudioRing(capacity: 16)
        #expect(ring.capacity == 16 && ring.count == 0)
        var next: Int16 = 0
        var expected: Int16 = 0
        for _ in 0..<50 {
            let samples = (0..<11).map { next + $0 }
            #expect(write(samples, to: ring) == 11)
            #expect(ring.count == 11)
            next += 11
            #expect(read(11, from: ring) == (0..<11).map { expected + $0 })
            expected += 11
        }
    }

    @Test func whatFindsNoRoomIsLeftOut() {
        let ring = AudioRing(capacity: 8)
        #expect(write(Array(1...5), to: ring) == 5)
        #expect(write(Array(6...10), to: ring) == 3)
        #expect(write([11], to: ring) == 0)
        #expect(read(20, from: ring) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(read(20, from: ring) == [])
        #expect(write([], to: ring) == 0 && read(0, from: ring) == [])
    }

    /// What was offered and asked for tells how fast both sides are, whatever finds room.
    @Test func bothSidesAreCounted() {
        let ring = AudioRing(capacity: 8)
        #expect(write(Array(1...10), to: ring) == 8)
        #expect(read(5, from: ring).count == 5)
        #expect(read(7, from: ring).count == 3)
        #expect(ring.offered == 10)
        #expect(ring.demand == (largest: 7, asked: 12, missed: 4))
    }

    /// One thread writes and another reads, as fast as they can, in runs of other sizes.
    @Test func twoThreads() async {
        let ring = AudioRing(capacity: 1024)
        let total = 200_000
        async let written: Void = onThread {
            var next = 0
            while next < total {
                let samples = (next..<min(next + 441, total)).map { Int16(truncatingIfNeeded: $0) }
                next += Self.write(samples, to: ring)
            }
        }
        async let wrong: Int? = onThread {
            var next = 0
            while next < total {
                for sample in Self.read(960, from: ring) {
                    guard sample == Int16(truncatingIfNeeded: next) else { return next }
                    next += 1
                }
            }
            return nil
        }
        let (_, place) = await (written, wrong)
        #expect(place == nil, "another sample than was written")
        #expect(ring.count == 0)
    }

    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "AudioRingTests").async { continuation.resume(returning: work()) }
        }
    }

    private func write(_ samples: [Int16], to ring: AudioRing) -> Int { Self.write(samples, to: ring) }

    private func read(_ count: Int, from ring: AudioRing) -> [Int16] { Self.read(count, from: ring) }

    private static func write(_ samples: [Int16], to ring: AudioRing) -> Int {
        samples.withUnsafeBufferPointer { ring.write($0) }
    }

    private static func read(_ count: Int, from ring: AudioRing) -> [Int16] {
        var samples = [Int16](repeating: -1, count: count)
        let count = samples.withUnsafeMutableBufferPointer { ring.read(into: $0) }
        return Array(samples.prefix(count))
    }
}
