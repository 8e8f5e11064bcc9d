@testable import MediaClient

/// The bytes of a text of hexadecimal digits and spaces.
func unhex(_ text: String) -> [UInt8] {
    let digits = text.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// An RTP packet without sources and extension.
func rtpPacket(_ sequence: Int, ssrc: UInt32 = 1, payload: String = "a frame of audio") -> [UInt8] {
    let header: [UInt8] = [0x80, 111, UInt8(sequence >> 8 & 0xFF), UInt8(sequence & 0xFF), 0, 0, 0, 0]
    return header + SRTPHeader.bytes(ssrc) + Array(payload.utf8)
}

/// An RTCP packet: an empty report.
func rtcpPacket(ssrc: UInt32 = 1) -> [UInt8] {
    [0x80, 201, 0, 1] + SRTPHeader.bytes(ssrc) + [UInt8](repeating: 7, count: 12)
}

extension SRTPKey {
    /// The key that the tests' vectors were made with.
    static var tests: SRTPKey {
        guard let key = SRTPKey(Array(0x10..<0x2C)) else { preconditionFailure("28 bytes") }
        return key
    }
}

/// What encrypts or decrypts packets in place, and does not change those that it refuses.
protocol PacketChanger {
    mutating func change(rtp packet: inout [UInt8]) throws(SRTPError)
    mutating func change(rtcp packet: inout [UInt8]) throws(SRTPError)
}

extension SRTPSender: PacketChanger {
    mutating func change(rtp packet: inout [UInt8]) throws(SRTPError) { try protectRTP(&packet) }
    mutating func change(rtcp packet: inout [UInt8]) throws(SRTPError) { try protectRTCP(&packet) }
}

extension SRTPReceiver: PacketChanger {
    mutating func change(rtp packet: inout [UInt8]) throws(SRTPError) { try unprotectRTP(&packet) }
    mutating func change(rtcp packet: inout [UInt8]) throws(SRTPError) { try unprotectRTCP(&packet) }
}

extension PacketChanger {
    /// The packet encrypted, or decrypted.
    mutating func rtp(_ packet: [UInt8]) throws -> [UInt8] {
        var packet = packet
        try change(rtp: &packet)
        return packet
    }

    /// The packet encrypted, or decrypted.
    mutating func rtcp(_ packet: [UInt8]) throws -> [UInt8] {
        var packet = packet
        try change(rtcp: &packet)
        return packet
    }

    /// What is said against a packet, which has no changes.
    mutating func refusal(rtp packet: [UInt8]) -> SRTPError? {
        refusal(of: packet) { changer, packet throws(SRTPError) in try changer.change(rtp: &packet) }
    }

    /// What is said against a packet, which has no changes.
    mutating func refusal(rtcp packet: [UInt8]) -> SRTPError? {
        refusal(of: packet) { changer, packet throws(SRTPError) in try changer.change(rtcp: &packet) }
    }

    private mutating func refusal(
        of packet: [UInt8], _ act: (inout Self, inout [UInt8]) throws(SRTPError) -> Void
    ) -> SRTPError? {
        var copy = packet
        do throws(SRTPError) {
            try act(&self, &copy)
            return nil
        } catch {
            precondition(copy == packet, "a packet that is refused has no changes")
            return error
        }
    }
}
