/// Decrypts what a client receives. Nothing that is not authentic changes its state. Source: RFC 3711 with
/// AEAD_AES_128_GCM of RFC 7714.
struct SRTPReceiver {
    /// Sources that are remembered. A node sends as a few for the whole call; only who has the key can be another.
    static let sourceBound = 64

    private struct Source {
        var rtp = SRTPReplayWindow()
        var rtcp = SRTPReplayWindow()
    }

    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    private var sources: [UInt32: Source] = [:]

    init(key: SRTPKey) { self.init(rtp: key.rtp, rtcp: key.rtcp) }

    /// Makes one of session keys.
    init(rtp: SRTPCipher, rtcp: SRTPCipher) {
        self.rtp = rtp
        self.rtcp = rtcp
    }

    /// Whether a packet of SRTP or SRTCP is the latter, by its type: 192...223. Source: RFC 5761, section 4.
    static func isRTCP(_ packet: [UInt8]) -> Bool { packet.count > 1 && 192...223 ~= packet[1] }

    /// Decrypts an RTP packet in place.
    ///
    /// - Parameter packet: a packet as it arrived. It has no changes when this throws.
    /// - Throws: any error but `exhausted`.
    mutating func unprotectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
        guard let header = SRTPHeader.rtpSize(packet) else { throw .malformed }
        let ssrc = SRTPHeader.word(packet, at: SRTPHeader.rtpSource)
        let source = try source(ssrc)
        let index = try source.rtp.index(of: SRTPHeader.sequence(packet))
        try source.rtp.check(index)
        try rtp.open(&packet, header: header, nonce: SRTPNonce(ssrc: ssrc, index: index))
        sources[ssrc, default: Source()].rtp.record(index)
    }

    /// Decrypts an RTCP packet in place.
    ///
    /// - Parameter packet: a packet as it arrived. It has no changes when this throws.
    /// - Throws: any error but `exhausted`.
    mutating func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
        let end = packet.count - 4
        guard end >= SRTPHeader.rtcpSize + SRTPCipher.tagSize, packet[0] >> 6 == 2 else { throw .malformed }
        let word = SRTPHeader.word(packet, at: end)
        guard word & SRTPHeader.encrypted != 0 else { throw .malformed }
        let ssrc = SRTPHeader.word(packet, at: SRTPHeader.rtcpSource)
        let index = UInt64(word & ~SRTPHeader.encrypted)
        try source(ssrc).rtcp.check(index)
        packet.removeLast(4)
        let trailer = SRTPHeader.bytes(word)
        do throws(SRTPError) {
            try rtcp.open(
                &packet, header: SRTPHeader.rtcpSize, trailer: trailer, nonce: SRTPNonce(ssrc: ssrc, index: index))
        } catch {
            packet.append(contentsOf: trailer)
            throw error
        }
        sources[ssrc, default: Source()].rtcp.record(index)
    }

    private func source(_ ssrc: UInt32) throws(SRTPError) -> Source {
        if let known = sources[ssrc] { return known }
        guard sources.count < Self.sourceBound else { throw .tooManySources }
        return Source()
    }
}
