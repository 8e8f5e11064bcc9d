/// Encrypts what a client sends. Source: RFC 3711 with AEAD_AES_128_GCM of RFC 7714.
struct SRTPSender {
    /// Sources that one sender may send as.
    static let sourceBound = 64
    /// The highest index of RTP: 32 bits of roll-over counter, 16 of sequence number.
    static let highestIndex: UInt64 = 0xFFFF_FFFF_FFFF

    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    /// The index of the latest packet of each source.
    private var latest: [UInt32: UInt64] = [:]
    private var nextReport: UInt32

    init(key: SRTPKey) { self.init(rtp: key.rtp, rtcp: key.rtcp) }

    /// Makes one of session keys, whose first packet of RTCP has the given index.
    init(rtp: SRTPCipher, rtcp: SRTPCipher, nextReport: UInt32 = 0) {
        self.rtp = rtp
        self.rtcp = rtcp
        self.nextReport = nextReport
    }

    /// Encrypts an RTP packet, which becomes 16 bytes longer.
    ///
    /// - Parameter packet: a whole packet; its sequence number is later than those before it of its source, by less
    ///   than 32,768. It has no changes when this throws.
    /// - Throws: `malformed`, `replayed`, `tooManySources`, or `exhausted`.
    mutating func protectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
        guard let header = SRTPHeader.rtpSize(packet) else { throw .malformed }
        let ssrc = SRTPHeader.word(packet, at: SRTPHeader.rtpSource)
        let index = try index(of: SRTPHeader.sequence(packet), from: ssrc)
        rtp.seal(&packet, header: header, nonce: SRTPNonce(ssrc: ssrc, index: index))
        latest[ssrc] = index
    }

    /// Encrypts an RTCP packet, which becomes 20 bytes longer.
    ///
    /// - Parameter packet: a whole packet, or several as one. It has no changes when this throws.
    /// - Throws: `malformed` or `exhausted`.
    mutating func protectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
        guard packet.count >= SRTPHeader.rtcpSize, packet[0] >> 6 == 2 else { throw .malformed }
        guard nextReport < SRTPHeader.encrypted else { throw .exhausted }
        let nonce = SRTPNonce(
            ssrc: SRTPHeader.word(packet, at: SRTPHeader.rtcpSource), index: UInt64(nextReport))
        let trailer = SRTPHeader.bytes(SRTPHeader.encrypted | nextReport)
        rtcp.seal(&packet, header: SRTPHeader.rtcpSize, trailer: trailer, nonce: nonce)
        packet.append(contentsOf: trailer)
        nextReport += 1
    }

    private func index(of sequence: UInt16, from ssrc: UInt32) throws(SRTPError) -> UInt64 {
        guard let before = latest[ssrc] else {
            guard latest.count < Self.sourceBound else { throw .tooManySources }
            return UInt64(sequence)
        }
        let step = Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: before))
        guard step > 0 else { throw .replayed }
        let index = before + UInt64(step)
        guard index <= Self.highestIndex else { throw .exhausted }
        return index
    }
}
