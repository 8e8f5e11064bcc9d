import CMedia
import Testing

@Suite struct ArrivalsTests {
    /// What a report tells of one packet: its number, and when it arrived in units of 250 us; nil: not.
    private struct Told: Equatable {
        var sequence: UInt16
        var time: Int?
    }

    private func write(_ arrivals: Kept<cm_arrivals>, capacity: Int = 1500) -> (told: Int, bytes: [UInt8]) {
        var bytes = [UInt8](repeating: 0xEE, count: capacity)
        return bytes.withUnsafeMutableBufferPointer { buffer in
            var writer = cm_rtcp_writer(to: buffer.baseAddress, capacity: capacity, size: 0, is_full: false)
            let told = cm_arrivals_write(arrivals.pointer, &writer, 1, 2)
            return (Int(told), Array(buffer[..<writer.size]))
        }
    }

    /// Reads a report as its draft describes it, by a reader of its own.
    private func decode(_ bytes: [UInt8]) -> [Told] {
        var packet = cm_rtcp()
        var position = 0
        guard cm_rtcp_next(&packet, bytes, bytes.count, &position), packet.kind == CM_RTCP_TRANSPORT,
            position == bytes.count
        else { return [] }
        func number(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
        let first = UInt16(number(12))
        let count = number(14)
        var time = (Int(bytes[16]) << 16 | number(17)) * 256
        var statuses: [Int] = []
        var at = 20
        while statuses.count < count {
            let chunk = number(at)
            at += 2
            if chunk >> 15 == 0 {
                statuses += [Int](repeating: chunk >> 13 & 3, count: chunk & 0x1FFF)
            } else {
                statuses += (0..<7).map { chunk >> (12 - 2 * $0) & 3 }
            }
        }
        return statuses.prefix(count).enumerated().map { index, status in
            let sequence = first &+ UInt16(index)
            switch status {
            case 1:
                time += Int(bytes[at])
                at += 1
            case 2:
                time += Int(Int16(bitPattern: UInt16(number(at))))
                at += 2
            default: return Told(sequence: sequence, time: nil)
            }
            return Told(sequence: sequence, time: time)
        }
    }

    @Test func arrivalsComeBack() {
        let arrivals = Kept<cm_arrivals>()
        #expect(write(arrivals).told == 0, "nothing yet")
        // 65535 is lost, 1 and 0 change places, 12 comes half a second later.
        let came: [(UInt16, UInt64)] = [
            (65_534, 64_000_000), (1, 64_000_500), (0, 64_000_750), (2, 64_064_250), (12, 64_500_000),
        ]
        for (sequence, time) in came { #expect(cm_arrivals_put(arrivals.pointer, sequence, time)) }
        #expect(!cm_arrivals_put(arrivals.pointer, 2, 64_600_000), "twice")
        let (told, bytes) = write(arrivals)
        #expect(told == 15)
        let decoded = decode(bytes)
        #expect(decoded.count == 15)
        for packet in decoded {
            let time = came.first { $0.0 == packet.sequence }?.1
            #expect(packet.time == time.map { Int($0 / 250) }, "\(packet.sequence)")
        }
        #expect(write(arrivals).told == 0, "told once")
        // The next report goes on where this one ended.
        #expect(!cm_arrivals_put(arrivals.pointer, 5, 64_600_000), "too late to be told of")
        #expect(cm_arrivals_put(arrivals.pointer, 14, 64_700_000))
        let next = decode(write(arrivals).bytes)
        #expect(next == [Told(sequence: 13, time: nil), Told(sequence: 14, time: 64_700_000 / 250)])
    }

    /// The bytes of one packet's report.
    @Test func goldenBytes() {
        let arrivals = Kept<cm_arrivals>()
        _ = cm_arrivals_put(arrivals.pointer, 0x0102, 128_000)
        _ = cm_arrivals_put(arrivals.pointer, 0x0103, 129_000)
        #expect(
            write(arrivals).bytes == [
                0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 0, 2, 0, 0, 2, 0, 0x20, 2, 0, 4,
            ])
        _ = cm_arrivals_put(arrivals.pointer, 0x0104, 192_250)
        // One byte of padding, and the next report's number.
        #expect(
            write(arrivals).bytes == [
                0xAF, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 1, 4, 0, 1, 0, 0, 3, 1, 0x20, 1, 1, 1,
            ])
    }

    @Test(arguments: [1, 2, 3, 5, 8, 40])
    func manyPacketsInSmallReports(_ seed: UInt64) {
        let arrivals = Kept<cm_arrivals>()
        var state = seed
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var came: [UInt16: Int] = [:]
        var time: UInt64 = 5_000_000
        for index in 0..<1000 where index == 0 || next(10) > seed % 9 {
            time += next(seed == 40 ? 200_000 : 3000)
            let sequence = UInt16(truncatingIfNeeded: 65_000 + index)
            #expect(cm_arrivals_put(arrivals.pointer, sequence, time))
            came[sequence] = Int(time / 250)
        }
        var expected = UInt16(truncatingIfNeeded: 65_000)
        var heard = 0
        while true {
            let (told, bytes) = write(arrivals, capacity: 123)
            if told == 0 { break }
            #expect(bytes.count <= 120)
            for packet in decode(bytes) {
                #expect(packet.sequence == expected)
                // Rounding does not add up.
                if let time = packet.time, let truth = came[packet.sequence] {
                    #expect(abs(time - truth) <= 1)
                    heard += 1
                } else {
                    #expect(packet.time == nil && came[packet.sequence] == nil)
                }
                expected &+= 1
            }
        }
        #expect(heard == came.count)
    }

    @Test func onlyTheLastArrivalsAreKept() {
        let arrivals = Kept<cm_arrivals>()
        for index in 0..<3000 { #expect(cm_arrivals_put(arrivals.pointer, UInt16(index), UInt64(index) * 100)) }
        let decoded = decode(write(arrivals).bytes)
        #expect(decoded.first?.sequence == UInt16(3000 - Int(CM_ARRIVALS)))
        // A sender that jumps begins anew.
        #expect(cm_arrivals_put(arrivals.pointer, 20_000, 400_000))
        let next = write(arrivals)
        #expect(decode(next.bytes).map(\.sequence) == [20_000])
        // Nothing is written where nothing fits.
        #expect(cm_arrivals_put(arrivals.pointer, 20_001, 500_000))
        #expect(write(arrivals, capacity: 20).told == 0)
        #expect(write(arrivals).told == 1)
    }

    @Test func theFirstPacketsMayOvertakeEachOther() {
        let arrivals = Kept<cm_arrivals>()
        #expect(cm_arrivals_put(arrivals.pointer, 2, 64_000))
        #expect(cm_arrivals_put(arrivals.pointer, 65_535, 64_250))
        #expect(
            decode(write(arrivals).bytes) == [
                Told(sequence: 65_535, time: 257), Told(sequence: 0, time: nil), Told(sequence: 1, time: nil),
                Told(sequence: 2, time: 256),
            ])
    }
}
