import Testing

@testable import MediaEngineLogic

@Suite struct JitterBufferTests {
    private func packet(_ index: Int, speaker: UInt32 = 7, bytes: Int = 80) -> AudioPacket {
        AudioPacket(
            sequence: UInt16(truncatingIfNeeded: index), timestamp: UInt32(truncatingIfNeeded: index * 960),
            speaker: speaker, payload: [UInt8](repeating: 1, count: bytes))
    }

    private func at(_ milliseconds: Int) -> MediaInstant { MediaInstant(microseconds: Int64(milliseconds) * 1000) }

    /// A buffer to which packets `0..<count` came in time, and which has played them all; the next turn is at
    /// `20 * (count + 1)`.
    private func started(_ count: Int) -> JitterBuffer {
        var buffer = JitterBuffer()
        for index in 0..<count {
            buffer.put(packet(index), arrival: at(20 * index))
            _ = buffer.play(now: at(20 * index))
        }
        #expect(buffer.play(now: at(20 * count)) == .packet(packet(count - 1), isFirst: count == 1))
        return buffer
    }

    @Test func aStreamBeginsOneFrameLater() {
        var buffer = JitterBuffer()
        #expect(buffer.play(now: at(0)) == .nothing)
        buffer.put(packet(0), arrival: at(5))
        #expect(buffer.play(now: at(20)) == .nothing)
        buffer.put(packet(1), arrival: at(25))
        #expect(buffer.play(now: at(40)) == .packet(packet(0), isFirst: true))
        #expect(buffer.play(now: at(60)) == .packet(packet(1), isFirst: false))
        #expect(buffer.speaker == 7)
    }

    @Test func aLostFrameIsRepairedFromTheNextOne() {
        var buffer = started(10)
        buffer.put(packet(11), arrival: at(220))
        #expect(buffer.play(now: at(220)) == .recover(from: packet(11)))
        #expect(buffer.play(now: at(240)) == .packet(packet(11), isFirst: false))
        #expect(buffer.counts.recovered == 1 && buffer.counts.concealed == 0)
    }

    @Test func concealmentEndsAfter100Milliseconds() {
        var buffer = started(10)
        let frames = (11...20).map { buffer.play(now: at(20 * $0)) }
        #expect(
            frames == [PlayoutFrame](repeating: .conceal, count: 5) + [.fade] + [
                .silence, .silence, .silence, .silence,
            ])
        // The turn went on meanwhile: the frame of that time is played, the former ones are late.
        buffer.put(packet(12), arrival: at(415))
        buffer.put(packet(20), arrival: at(416))
        #expect(buffer.play(now: at(420)) == .packet(packet(20), isFirst: false))
        #expect(buffer.counts.late == 1)
    }

    /// Packets of which those with numbers from 100 on take 60 ms longer, and those from 250 on are fast again.
    private func slowFor3Seconds(silentFrom: Int) -> [NetworkModel.Delivery] {
        (0..<450).map { index in
            let delay = (100..<250).contains(index) ? 61 : 1
            return NetworkModel.Delivery(
                packet: packet(index, bytes: index < silentFrom ? 80 : 1), index: index, sent: Double(index) * 20,
                arrival: at(20 * index + delay))
        }.sorted { ($0.arrival, $0.index) < ($1.arrival, $1.index) }
    }

    @Test func theDelayGrowsByConcealing() {
        var buffer = JitterBuffer()
        _ = buffer.run(slowFor3Seconds(silentFrom: 450), ticks: 0..<250)
        #expect((1...4).contains(buffer.counts.lengthened))
        // The first slow ones are late, until they are a twentieth.
        #expect((1...8).contains(buffer.counts.late))
        #expect(buffer.counts.played >= 235)
    }

    @Test func theDelayShrinksBySilence() {
        var buffer = JitterBuffer()
        let deliveries = slowFor3Seconds(silentFrom: 400)
        _ = buffer.run(deliveries, ticks: 0..<400)
        // While somebody speaks the delay stays.
        #expect(buffer.hasSurplus(at: at(8000)))
        #expect(buffer.counts.shortened == 0)
        _ = buffer.run(deliveries, ticks: 400..<450)
        #expect(!buffer.hasSurplus(at: at(9000)))
        #expect((1...4).contains(buffer.counts.shortened))
        #expect(buffer.counts.hurried == 0 && buffer.counts.overflowed == 0)
    }

    @Test func theCallerLeavesOutWhatItHearsToBeSilent() {
        var buffer = JitterBuffer()
        let deliveries = slowFor3Seconds(silentFrom: 450)
        _ = buffer.run(deliveries, ticks: 0..<400)
        let before = buffer.delay(at: at(8000))
        guard case .packet(let left, _) = buffer.play(now: at(8000)),
            case .packet(let next, _) = buffer.play(now: at(8000))
        else {
            Issue.record("nothing is played")
            return
        }
        #expect(next.sequence == left.sequence + 1)
        #expect(buffer.delay(at: at(8020)) == before.map { $0 - .milliseconds(20) })
    }

    @Test func duplicatesLateAndReorderedPackets() {
        var buffer = started(10)
        buffer.put(packet(11), arrival: at(215))
        buffer.put(packet(10), arrival: at(216))
        buffer.put(packet(10), arrival: at(217))
        buffer.put(packet(9), arrival: at(218))
        #expect(buffer.counts.duplicates == 2)
        #expect(buffer.play(now: at(220)) == .packet(packet(10), isFirst: false))
        #expect(buffer.play(now: at(240)) == .packet(packet(11), isFirst: false))
        #expect(buffer.play(now: at(260)) == .conceal)
        buffer.put(packet(12), arrival: at(265))
        #expect(buffer.counts.late == 1)
    }

    @Test func anotherSpeakerBeginsAnew() {
        var buffer = started(10)
        buffer.put(packet(10), arrival: at(210))
        buffer.put(packet(12, speaker: 9), arrival: at(215))
        // A packet of the former speaker that was overtaken does not bring that one back.
        buffer.put(packet(11), arrival: at(216))
        #expect(buffer.speaker == 9 && buffer.counts.late == 1)
        #expect(buffer.play(now: at(220)) == .nothing)
        #expect(buffer.play(now: at(240)) == .packet(packet(12, speaker: 9), isFirst: true))
    }

    @Test func aJumpBeginsAnewWithItsSecondPacket() {
        var buffer = started(10)
        buffer.put(packet(3000), arrival: at(205))
        buffer.put(packet(10), arrival: at(206))
        #expect(buffer.play(now: at(220)) == .packet(packet(10), isFirst: false))
        buffer.put(packet(5000), arrival: at(225))
        buffer.put(packet(5001), arrival: at(245))
        #expect(buffer.counts.stray == 1 && buffer.counts.streams == 2)
        #expect(buffer.play(now: at(260)) == .nothing)
        #expect(buffer.play(now: at(280)) == .packet(packet(5001), isFirst: true))
    }

    @Test func aStreamEndsAfterTwoSeconds() {
        var buffer = started(10)
        for tick in 11..<112 { _ = buffer.play(now: at(20 * tick)) }
        #expect(buffer.speaker == nil)
        #expect(buffer.play(now: at(20 * 112)) == .nothing)
        // Wherever the next packet continues.
        buffer.put(packet(40_000), arrival: at(3000))
        #expect(buffer.play(now: at(3020)) == .packet(packet(40_000), isFirst: true))
    }

    @Test func noMoreThanFiftyPacketsWait() {
        var buffer = started(10)
        for index in 10..<80 {
            buffer.put(packet(index), arrival: at(205))
            #expect(buffer.count <= JitterBuffer.capacity)
        }
        #expect(buffer.counts.overflowed == 20)
        guard case .packet(let first, _) = buffer.play(now: at(220)) else {
            Issue.record("nothing is played")
            return
        }
        #expect(first.sequence >= 30)
    }

    @Test(arguments: UInt64(1)...30) func withoutJitterNothingIsLostAndTheDelayIsSmall(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let network = NetworkModel(delay: .random(in: 1..<200, using: &random))
        let deliveries = network.deliveries(frames: 300, seed: seed)
        let sent = Dictionary(uniqueKeysWithValues: deliveries.map { ($0.packet.sequence, $0.sent + network.delay) })
        var buffer = JitterBuffer()
        let frames = buffer.run(deliveries, ticks: 0..<320, phase: .random(in: 0..<20, using: &random))
        for case (.packet(let packet, _), let time) in frames.map({ ($0.frame, $0.time) }) {
            let added = Double(time.microseconds) / 1000 - (sent[packet.sequence] ?? 0)
            if !(19.9...40).contains(added) { Issue.record("\(packet.sequence) is \(added) ms late") }
        }
        #expect(buffer.counts.played == 300)
        #expect(buffer.counts.late == 0 && buffer.counts.lengthened == 0 && buffer.counts.shortened == 0)
    }

    @Test(arguments: UInt64(1)...60) func randomNetworks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let network = NetworkModel(
            loss: .random(in: 0..<0.3, using: &random), duplicates: .random(in: 0..<0.2, using: &random),
            delay: .random(in: 1..<100, using: &random), jitter: .random(in: 0..<150, using: &random),
            firstSequence: .random(in: 64_000...UInt16.max, using: &random),
            firstTimestamp: .random(in: UInt32.max - 500_000...UInt32.max, using: &random))
        let deliveries = network.deliveries(frames: 600, seed: seed)
        let first = Dictionary(deliveries.map { ($0.packet.sequence, $0) }) { early, _ in early }
        var buffer = JitterBuffer()
        let frames = buffer.run(deliveries, ticks: 0..<650, phase: .random(in: 0..<20, using: &random))
        var latest = -1
        for frame in frames {
            guard case .packet(let packet, _) = frame.frame, let delivery = first[packet.sequence] else { continue }
            let added = Double(frame.time.microseconds) / 1000 - delivery.sent - network.delay
            // In order, each once, not before it came, and not too late.
            if delivery.index <= latest || delivery.arrival > frame.time
                || added > JitterBuffer.greatestDelay.milliseconds + 0.001
            {
                Issue.record("packet \(delivery.index) after \(latest), \(added) ms after the fastest ones")
            }
            latest = delivery.index
        }
        let counts = buffer.counts
        #expect(counts.streams == 1 && counts.overflowed == 0 && buffer.count == 0)
        #expect(counts.played + counts.late + counts.duplicates + counts.shortened + counts.hurried == deliveries.count)
        // The target follows the 95th percentile: what is late beside the start stays near a twentieth.
        #expect(counts.late <= deliveries.count / 10)
    }
}
