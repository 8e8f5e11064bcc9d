/// The fields of RTP and RTCP headers that SRTP needs. Source: RFC 3550, sections 5.1 and 6.4.1.
enum SRTPHeader {
    /// The bytes of an RTCP packet that stay readable.
    static let rtcpSize = 8
    private static let rtpSize = 12

    /// The size of an RTP header with its sources and extension; nil when the packet does not contain it, or is none.
    static func rtpSize(_ packet: [UInt8]) -> Int? {
        guard packet.count >= rtpSize, packet[0] >> 6 == 2 else { return nil }
        var size = rtpSize + 4 * Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 {
            guard packet.count >= size + 4 else { return nil }
            size += 4 + 4 * (Int(packet[size + 2]) << 8 | Int(packet[size + 3]))
        }
        return size <= packet.count ? size : nil
    }

    /// The sequence number of an RTP header.
    static func sequence(_ packet: [UInt8]) -> UInt16 { UInt16(packet[2]) << 8 | UInt16(packet[3]) }

    /// A number of 32 bits at an offset that the packet has.
    static func word(_ packet: [UInt8], at offset: Int) -> UInt32 {
        packet[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The bytes of such a number.
    static func bytes(_ word: UInt32) -> [UInt8] {
        [UInt8(word >> 24), UInt8(word >> 16 & 0xFF), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF)]
    }

    /// Where an RTP packet has its SSRC.
    static let rtpSource = 8
    /// Where an RTCP packet has the SSRC of its sender.
    static let rtcpSource = 4
    /// The bit of the last word of SRTCP that says that the packet is encrypted. Source: RFC 3711, section 3.4.
    static let encrypted: UInt32 = 0x8000_0000
}
