import CMedia
import Testing

@Suite struct SlotTests {
    private static let ssrc: UInt32 = 0xAAAA
    private static let source: UInt32 = 0x1234_5678

    /// A slot with its receiver's format.
    private final class Scene {
        let slot = Kept<cm_slot>()
        let format = Kept<cm_format>()
        var now: UInt64 = 1_000_000

        init(clock: UInt32 = 48_000, isAudio: Bool = true, random: UInt64 = 0x1111_2222_3333_9FFF) {
            cm_slot_init(slot.pointer, SlotTests.ssrc, 0xBBBB, clock, isAudio, random)
            format.pointer.pointee.payload_types = (100, 101, 255, 255)
            format.pointer.pointee.rtx_payload_types = (255, 102, 255, 255)
            format.pointer.pointee.ids = cm_extension_ids(send_time: 3, mid: 0)
            take(uid: 7)
        }

        func take(uid: UInt32, source: UInt32 = SlotTests.source, codec: UInt8 = 0) {
            cm_slot_switch(slot.pointer, uid, source, codec)
        }

        func write(_ packet: Packet, capacity: Int = 1500) -> (verdict: cm_verdict, bytes: [UInt8]) {
            let bytes = packet.bytes
            var out = [UInt8](repeating: 0, count: capacity)
            var count = 0
            guard var rtp = header(bytes) else { return (CM_INVALID, []) }
            let verdict = cm_slot_write(slot.pointer, &rtp, bytes, format.pointer, now, &out, capacity, &count)
            return (verdict, Array(out[..<count]))
        }

        /// The header of what the slot sends for a packet; nil when it sends nothing.
        func sent(_ sequence: UInt16, _ timestamp: UInt32 = 0, source: UInt32 = SlotTests.source) -> cm_rtp? {
            header(write(Packet(sequence: sequence, timestamp: timestamp, ssrc: source)).bytes)
        }

        func resend(_ sequence: UInt16, of packet: Packet) -> (verdict: cm_verdict, bytes: [UInt8]) {
            let bytes = packet.bytes
            var out = [UInt8](repeating: 0, count: 1500)
            var count = 0
            guard var rtp = header(bytes) else { return (CM_INVALID, []) }
            let verdict = cm_slot_resend(
                slot.pointer, sequence, &rtp, bytes, format.pointer, now, &out, out.count, &count)
            return (verdict, Array(out[..<count]))
        }
    }

    @Test func aPacketGetsTheSlotsNumbers() throws {
        let scene = Scene()
        let packet = Packet(
            payloadType: 96, sequence: 500, sources: [1, 2], extensions: (0xBEDE, [0x10, 5]), payload: [9, 8, 7],
            padding: [0, 2])
        let (verdict, bytes) = scene.write(packet)
        #expect(verdict == CM_SENT)
        let rtp = try #require(header(bytes))
        #expect(rtp.ssrc == Self.ssrc && rtp.payload_type == 100)
        // The uid is the one CSRC; of the extensions only the receiver's own are sent.
        #expect(rtp.csrc_count == 1 && Array(bytes[12..<16]) == [0, 0, 0, 7])
        #expect(Array(bytes[Int(rtp.payload_offset)...]) == [9, 8, 7])
        var size: UInt8 = 0
        var read = rtp
        #expect(cm_rtp_extension(&read, bytes, 1, &size) == nil)
        #expect(cm_rtp_extension(&read, bytes, 3, &size) != nil && size == 3)
        #expect(rtp.sequence == 0x1FFF)
        // Receivers assume that the first number has not wrapped.
        for random: UInt64 in [0, 0xFFFF_FFFF_FFFF_FFFF] {
            let first = try #require(Scene(random: random).sent(1)).sequence
            #expect(first == random & 0x7FFF)
        }
    }

    @Test func theMarkerIsOfThePictureOrTheFirstPacketOfSpeech() throws {
        let audio = Scene()
        #expect(try #require(audio.sent(1)).marker)
        #expect(try #require(audio.sent(2)).marker == false)
        audio.take(uid: 8, source: 5)
        #expect(try #require(audio.sent(90, source: 5)).marker)
        let video = Scene(clock: 90_000, isAudio: false)
        #expect(try #require(video.sent(1)).marker == false)
        let last = video.write(Packet(isMarked: true, sequence: 2, ssrc: Self.source))
        #expect(try #require(header(last.bytes)).marker)
    }

    @Test func gapsAreKeptAndOrderToo() throws {
        let scene = Scene()
        let first = try #require(scene.sent(65_534)).sequence
        #expect(scene.sent(65_535)?.sequence == first &+ 1)
        #expect(scene.sent(3)?.sequence == first &+ 5)
        #expect(scene.sent(1)?.sequence == first &+ 3)
        #expect(scene.sent(4)?.sequence == first &+ 6)
        #expect(scene.write(Packet(sequence: 1)).verdict == CM_DUPLICATE)
        #expect(scene.write(Packet(sequence: 65_533)).verdict == CM_TOO_OLD)
        #expect(scene.slot.pointer.pointee.packets == 5)
    }

    @Test func numbersContinueOverSwitches() throws {
        let scene = Scene()
        let first = try #require(scene.sent(10, 5000))
        scene.now += 20_000
        let second = try #require(scene.sent(11, 5960))
        #expect(second.timestamp == first.timestamp &+ 960)
        scene.take(uid: 8, source: 5)
        scene.now += 500_000
        let third = try #require(scene.sent(40_000, 77, source: 5))
        #expect(third.sequence == second.sequence &+ 1)
        #expect(third.timestamp == second.timestamp &+ 24_000)
        // The old source is not heard any more, nor what the new one sent before.
        #expect(scene.write(Packet(sequence: 12)).verdict == CM_NOT_THE_SOURCE)
        #expect(scene.write(Packet(sequence: 39_999, ssrc: 5)).verdict == CM_TOO_OLD)
        // Two switches at once still move the time.
        scene.take(uid: 9, source: 6)
        let fourth = try #require(scene.sent(1, 0, source: 6))
        #expect(fourth.timestamp == third.timestamp &+ 480)
        cm_slot_clear(scene.slot.pointer)
        #expect(scene.write(Packet(sequence: 2, ssrc: 6)).verdict == CM_NOT_THE_SOURCE)
    }

    @Test(arguments: [20_000, 32_766, 32_767, 40_000, 65_534, 65_535] as [UInt16])
    func newKeysBeginInTheLowerHalfOfTheNumbers(_ last: UInt16) throws {
        let scene = Scene(random: UInt64(last &+ 1) & 0x7FFF)
        // The slot's first number is below 2^15 whatever it is to be.
        let step = last &- (UInt16(last &+ 1) & 0x7FFF)
        var source: UInt16 = 60_000
        #expect(scene.sent(source) != nil)
        for _ in 0..<(step / 2000) {
            source &+= 2000
            #expect(scene.sent(source) != nil)
        }
        source &+= step % 2000
        _ = scene.sent(source, 960)
        #expect(scene.slot.pointer.pointee.last_sequence == last)
        cm_slot_renew(scene.slot.pointer)
        #expect(scene.write(Packet(sequence: source &- 1)).verdict == CM_TOO_OLD, "before the new keys")
        #expect(scene.write(Packet(sequence: source, ssrc: Self.source)).verdict == CM_TOO_OLD)
        // A gap is kept, and what came late behind it is sent.
        let second = try #require(scene.sent(source &+ 2, 960 * 3))
        let first = try #require(scene.sent(source &+ 1, 960 * 2))
        #expect(first.sequence == (last &+ 1) & 0x7FFF && second.sequence == first.sequence &+ 1)
        #expect(second.timestamp == first.timestamp &+ 960)
        // With a new source too.
        cm_slot_clear(scene.slot.pointer)
        cm_slot_renew(scene.slot.pointer)
        scene.take(uid: 8, source: 9)
        #expect(try #require(scene.sent(3, source: 9)).sequence == (second.sequence &+ 1) & 0x7FFF)
    }

    @Test func noNumberIsSentTwice() {
        let scene = Scene(random: 1)
        var random = SystemRandomNumberGenerator()
        var last: UInt16?
        var lately: [UInt16] = []
        for round in 0..<20_000 {
            let sequence = UInt16(truncatingIfNeeded: round + Int.random(in: -300...300, using: &random))
            if round % 777 == 0 { scene.take(uid: UInt32(round)) }
            guard let sent = scene.sent(sequence) else { continue }
            #expect(!lately.contains(sent.sequence))
            lately.append(sent.sequence)
            if lately.count > 1000 { lately.removeFirst(500) }
            if let last { #expect(Int16(bitPattern: sent.sequence &- last) > -Int16(CM_SLOT_WINDOW)) }
            last = sent.sequence
        }
    }

    @Test func aStepThatIsTooLargeMustBeConfirmed() throws {
        let scene = Scene()
        let first = try #require(scene.sent(100, 0))
        // The greatest step that is a gap.
        #expect(scene.sent(100 + 2999)?.sequence == first.sequence &+ 2999)
        #expect(scene.write(Packet(sequence: 30_000)).verdict == CM_OUT_OF_STEP)
        // A stray packet changes nothing.
        #expect(scene.sent(3100)?.sequence == first.sequence &+ 3000)
        #expect(scene.write(Packet(sequence: 30_001)).verdict == CM_OUT_OF_STEP)
        #expect(scene.sent(30_002)?.sequence == first.sequence &+ 3001)
        #expect(scene.sent(30_003)?.sequence == first.sequence &+ 3002)
        // So does a source that begins anew.
        #expect(scene.write(Packet(sequence: 20_000)).verdict == CM_OUT_OF_STEP)
        #expect(scene.sent(20_001)?.sequence == first.sequence &+ 3003)
    }

    @Test func whatComesTooLateIsDropped() throws {
        let scene = Scene()
        _ = scene.sent(0)
        _ = scene.sent(1000)
        #expect(scene.sent(1000 - UInt16(CM_SLOT_WINDOW) + 1) != nil)
        #expect(scene.write(Packet(sequence: 1000 - UInt16(CM_SLOT_WINDOW))).verdict == CM_TOO_OLD)
    }

    @Test func whatTheReceiverCannotTakeIsNotSent() throws {
        let scene = Scene()
        scene.take(uid: 7, codec: 2)
        #expect(scene.write(Packet()).verdict == CM_NO_PAYLOAD_TYPE)
        scene.take(uid: 7, codec: 9)
        #expect(scene.write(Packet()).verdict == CM_NO_PAYLOAD_TYPE)
        scene.take(uid: 7)
        let large = Packet(sequence: 5, payload: [UInt8](repeating: 1, count: 1000))
        #expect(scene.write(large, capacity: 1000).verdict == CM_INVALID)
        // It was not counted as sent.
        #expect(scene.write(large).verdict == CM_SENT)
    }

    @Test func retransmissions() throws {
        let scene = Scene(clock: 90_000, isAudio: false)
        scene.take(uid: 7, codec: 1)
        let packet = Packet(sequence: 50, timestamp: 1, payload: [1, 2, 3])
        let sent = try #require(header(scene.write(packet).bytes))
        var source: UInt16 = 0
        #expect(cm_slot_source_sequence(scene.slot.pointer, sent.sequence, &source) && source == 50)
        #expect(!cm_slot_source_sequence(scene.slot.pointer, sent.sequence &+ 1, &source))
        #expect(!cm_slot_source_sequence(scene.slot.pointer, sent.sequence &- 1, &source))
        var numbers: [UInt16] = []
        for _ in 0..<Int(CM_RESEND_TRIES) {
            let (verdict, bytes) = scene.resend(sent.sequence, of: packet)
            #expect(verdict == CM_SENT)
            let again = try #require(header(bytes))
            #expect(again.ssrc == 0xBBBB && again.payload_type == 102 && again.timestamp == sent.timestamp)
            #expect(Array(bytes[Int(again.payload_offset)...]) == big(sent.sequence) + [1, 2, 3])
            numbers.append(again.sequence)
        }
        #expect(numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2])
        #expect(scene.resend(sent.sequence, of: packet).verdict == CM_REFUSED)
        // Another packet than the one that was asked for, and one of before a switch.
        #expect(scene.resend(sent.sequence, of: Packet(sequence: 51)).verdict == CM_REFUSED)
        scene.take(uid: 7, codec: 1)
        _ = scene.sent(60)
        #expect(scene.resend(sent.sequence, of: packet).verdict == CM_REFUSED)
        #expect(scene.resend(sent.sequence, of: Packet(sequence: 50, ssrc: 1)).verdict == CM_NOT_THE_SOURCE)
    }

    @Test func retransmissionsStayBelowAQuarterOfTheRest() throws {
        let scene = Scene(clock: 90_000, isAudio: false)
        scene.take(uid: 7, codec: 1)
        var resent = 0
        var forwarded = 0
        for number in 0..<2000 {
            let packet = Packet(sequence: UInt16(number), payload: [UInt8](repeating: 1, count: 1000))
            let sent = try #require(header(scene.write(packet).bytes))
            forwarded += 1000
            let again = scene.resend(sent.sequence, of: packet)
            if again.verdict == CM_SENT { resent += 1002 }
        }
        #expect(resent <= forwarded / 4 + Int(CM_RESEND_BURST))
        #expect(resent > forwarded / 5)
    }

    @Test func whatOvertookTheFirstPacketIsSentAfterIt() throws {
        let scene = Scene(clock: 90_000, isAudio: false)
        let ring = Kept<cm_ring>()
        scene.take(uid: 7, codec: 1)
        func packet(_ number: UInt16) -> Packet { Packet(sequence: number, timestamp: 5, payload: [UInt8(number)]) }
        // Of the key frame 10...13 the first packet comes last, and 12 is lost; the slot waits for it.
        for number: UInt16 in [8, 9, 11, 13, 10] {
            let bytes = packet(number).bytes
            #expect(cm_ring_put(ring.pointer, number, bytes, bytes.count, scene.now))
        }
        let first = try #require(header(scene.write(packet(10)).bytes))
        var last: UInt16 = 10
        var sent: [UInt16] = []
        while let kept = cm_ring_next(ring.pointer, last, scene.now) {
            last = kept.pointee.sequence
            let rtp = try #require(header(scene.write(packet(last)).bytes))
            sent.append(rtp.sequence &- first.sequence)
        }
        #expect(sent == [1, 3])
        #expect(scene.resend(first.sequence &+ 3, of: packet(13)).verdict == CM_SENT)
        #expect(scene.sent(12, 5)?.sequence == first.sequence &+ 2, "in its place, when it comes")
        #expect(scene.sent(14)?.sequence == first.sequence &+ 4)
    }

    @Test func audioIsNotSentAgain() {
        let scene = Scene()
        let packet = Packet(sequence: 1)
        let sent = scene.write(packet)
        #expect(scene.resend(header(sent.bytes)?.sequence ?? 0, of: packet).verdict == CM_NO_PAYLOAD_TYPE)
    }

    @Test func reportsAreInTheSlotsTime() throws {
        let scene = Scene()
        var timestamp: UInt32 = 0
        #expect(!cm_slot_report_timestamp(scene.slot.pointer, 0, &timestamp))
        let sent = try #require(scene.sent(1, 5000))
        #expect(cm_slot_report_timestamp(scene.slot.pointer, 5960, &timestamp))
        #expect(timestamp == sent.timestamp &+ 960)
    }
}
