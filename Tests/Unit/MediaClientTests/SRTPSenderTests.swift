import Testing

@testable import MediaClient

@Suite struct SRTPSenderTests {
    /// A number that does not go forward would have a nonce that was used before.
    @Test func numbersOnlyGoForward() throws {
        var sender = SRTPSender(key: .tests)
        _ = try sender.rtp(rtpPacket(1000))
        for number in [1000, 999, 0, 1000 + 32_768] { #expect(sender.refusal(rtp: rtpPacket(number)) == .replayed) }
        _ = try sender.rtp(rtpPacket(1000 + 32_767))
        _ = try sender.rtp(rtpPacket(1000, ssrc: 2))
    }

    @Test func sourcesHaveABound() throws {
        var sender = SRTPSender(key: .tests)
        for ssrc in 0..<UInt32(SRTPSender.sourceBound) { _ = try sender.rtp(rtpPacket(1, ssrc: ssrc)) }
        #expect(sender.refusal(rtp: rtpPacket(1, ssrc: 64)) == .tooManySources)
        _ = try sender.rtp(rtpPacket(2, ssrc: 0))
    }

    @Test func aKeyIsExhausted() throws {
        var sender = SRTPSender(rtp: SRTPKey.tests.rtp, rtcp: SRTPKey.tests.rtcp, nextReport: 0x7FFF_FFFF)
        let last = try sender.rtcp(rtcpPacket())
        #expect(last.suffix(4) == [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(sender.refusal(rtcp: rtcpPacket()) == .exhausted)
    }

    @Test func whatIsNoPacket() {
        var sender = SRTPSender(key: .tests)
        #expect(sender.refusal(rtp: Array(rtpPacket(1).prefix(11))) == .malformed)
        #expect(sender.refusal(rtcp: [0x80, 201, 0, 1, 0, 0, 0]) == .malformed)
        #expect(sender.refusal(rtcp: [0x40] + rtcpPacket().dropFirst()) == .malformed)
    }
}
