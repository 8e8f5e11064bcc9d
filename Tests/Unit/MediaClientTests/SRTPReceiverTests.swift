import Testing

@testable import MediaClient

@Suite struct SRTPReceiverTests {
    @Test func whatIsSentArrives() throws {
        var sender = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        for number in 0..<300 {
            let packet = rtpPacket(65_400 - 40_000 + number * 500 & 0xFFFF)
            #expect(try receiver.rtp(sender.rtp(packet)) == packet)
            #expect(try receiver.rtcp(sender.rtcp(rtcpPacket())) == rtcpPacket())
        }
        #expect(SRTPReceiver.isRTCP(rtcpPacket()) && !SRTPReceiver.isRTCP(rtpPacket(1)) && !SRTPReceiver.isRTCP([0x80]))
    }

    /// Each bit of each byte is turned; the packet is still taken afterwards, once.
    @Test func whatIsForgedChangesNothing() throws {
        var sender = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        _ = try receiver.rtp(sender.rtp(rtpPacket(990)))
        let packet = try sender.rtp(rtpPacket(1001))
        let report = try sender.rtcp(rtcpPacket())
        for place in packet.indices {
            for bit in 0..<8 {
                var forged = packet
                forged[place] ^= 1 << bit
                let refusal = receiver.refusal(rtp: forged)
                // Another version or extension makes it no packet, another number one that is too old.
                let header: [SRTPError?] = place == 0 ? [.malformed] : 2...3 ~= place ? [.tooOld] : []
                #expect(refusal == .forged || header.contains(refusal), "\(place) \(bit)")
            }
        }
        for place in report.indices {
            for bit in 0..<8 {
                var forged = report
                forged[place] ^= 1 << bit
                let refusal = receiver.refusal(rtcp: forged)
                #expect(refusal == .forged || refusal == .malformed, "\(place) \(bit)")
            }
        }
        #expect(try receiver.rtp(packet) == rtpPacket(1001))
        #expect(try receiver.rtcp(report) == rtcpPacket())
        #expect(receiver.refusal(rtp: packet) == .replayed)
        #expect(receiver.refusal(rtcp: report) == .replayed)
    }

    /// A forged number far ahead does not move the window, and forged sources take no place.
    @Test func strangersTakeNoPlace() throws {
        var sender = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        _ = try receiver.rtp(sender.rtp(rtpPacket(10)))
        #expect(receiver.refusal(rtp: rtpPacket(30_000)) == .forged)
        for ssrc in UInt32(100)..<300 { #expect(receiver.refusal(rtp: rtpPacket(1, ssrc: ssrc)) == .forged) }
        #expect(try receiver.rtp(sender.rtp(rtpPacket(11))) == rtpPacket(11))
        #expect(try receiver.rtp(sender.rtp(rtpPacket(1, ssrc: 5))) == rtpPacket(1, ssrc: 5))
    }

    @Test func lateAndTooLate() throws {
        var sender = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        let packets = try (1000...1200).map { try sender.rtp(rtpPacket($0)) }
        let reports = try (0..<201).map { _ in try sender.rtcp(rtcpPacket()) }
        _ = try receiver.rtp(packets[200])
        _ = try receiver.rtcp(reports[200])
        #expect(try receiver.rtp(packets[200 - 127]) == rtpPacket(1073))
        #expect(receiver.refusal(rtp: packets[200 - 127]) == .replayed)
        #expect(receiver.refusal(rtp: packets[200 - 128]) == .tooOld)
        #expect(try receiver.rtcp(reports[200 - 127]) == rtcpPacket())
        #expect(receiver.refusal(rtcp: reports[200 - 127]) == .replayed)
        #expect(receiver.refusal(rtcp: reports[200 - 128]) == .tooOld)
    }

    @Test func sourcesHaveABound() throws {
        var sender = SRTPSender(key: .tests)
        var other = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        for ssrc in 0..<UInt32(SRTPReceiver.sourceBound) {
            _ = try receiver.rtp(sender.rtp(rtpPacket(1, ssrc: ssrc)))
            _ = try receiver.rtcp(sender.rtcp(rtcpPacket(ssrc: ssrc)))
        }
        #expect(try receiver.refusal(rtp: other.rtp(rtpPacket(1, ssrc: 64))) == .tooManySources)
        #expect(try receiver.refusal(rtcp: other.rtcp(rtcpPacket(ssrc: 64))) == .tooManySources)
        #expect(try receiver.rtp(sender.rtp(rtpPacket(2, ssrc: 63))) == rtpPacket(2, ssrc: 63))
    }

    @Test func otherKeysAndDirectionsAreForgeries() throws {
        let key = try #require(SRTPKey(Array(0x11..<0x2D)))
        var sender = SRTPSender(key: key)
        var receiver = SRTPReceiver(key: .tests)
        #expect(try receiver.refusal(rtp: sender.rtp(rtpPacket(1))) == .forged)
        #expect(try receiver.refusal(rtcp: sender.rtcp(rtcpPacket())) == .forged)
        #expect(SRTPKey(Array(0..<27)) == nil && SRTPKey(Array(0..<29)) == nil)
    }

    @Test(arguments: [
        "", "80", "806f0001 00000000 000000", "406f0001 00000000 00000001 00000000 00000000 00000000 00000000",
        "806f0001 00000000 00000001 00000000 00000000 00000000 000000",
        "8f6f0001 00000000 00000001 00000000 00000000 00000000",
        "906f0001 00000000 00000001 bede00", "906f0001 00000000 00000001 bedeffff 00000000 00000000 00000000 00000000",
    ])
    func whatIsNoPacket(_ text: String) {
        var receiver = SRTPReceiver(key: .tests)
        #expect(receiver.refusal(rtp: unhex(text)) == .malformed)
        #expect(receiver.refusal(rtcp: unhex(text)) == .malformed)
    }

    /// RTCP that is only authenticated is not taken.
    @Test func reportsAreEncrypted() {
        var receiver = SRTPReceiver(key: .tests)
        let plain = rtcpPacket() + [UInt8](repeating: 0, count: 16)
        #expect(receiver.refusal(rtcp: plain + [0x00, 0, 0, 1]) == .malformed)
        #expect(receiver.refusal(rtcp: plain + [0x80, 0, 0, 1]) == .forged)
    }
}
