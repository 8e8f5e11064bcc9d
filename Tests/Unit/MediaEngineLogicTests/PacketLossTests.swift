import Testing

@testable import MediaEngineLogic

@Suite struct PacketLossTests {
    @Test func missingNumbersCountAcrossTheWrap() {
        var loss = PacketLoss()
        for number in 65_500..<65_600 where number % 10 != 0 {
            _ = loss.put(sequence: UInt16(truncatingIfNeeded: number))
        }
        // 65,501 is the first; 65,510 to 65,590 are missing.
        let interval = loss.take()
        #expect(interval == PacketLoss.Interval(expected: 99, received: 90))
        #expect(abs(interval.lostPercent - 9.0909) < 0.001)
        #expect(loss.take().lostPercent == 0)
    }

    @Test func overtakenAndRepeatedPackets() {
        var loss = PacketLoss()
        #expect([1, 3, 2, 3, 2, 1, 4].map { loss.put(sequence: $0) } == [true, true, true, false, false, false, true])
        #expect(loss.take() == PacketLoss.Interval(expected: 4, received: 4))
        _ = loss.put(sequence: 6)
        #expect(loss.take().lostPercent == 50)
        // The missing one comes in the next interval: never below nothing.
        _ = loss.put(sequence: 5)
        #expect(loss.take().lostPercent == 0)
    }

    @Test func anotherRunOfNumbersIsNoLoss() {
        var loss = PacketLoss()
        for number in UInt16(1)...10 { _ = loss.put(sequence: number) }
        loss.begin()
        for number in UInt16(500)...509 { _ = loss.put(sequence: number) }
        _ = loss.put(sequence: 40_000)
        #expect(loss.take() == PacketLoss.Interval(expected: 21, received: 21))
    }
}
