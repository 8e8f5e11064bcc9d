internal import Crypto

/// A session key and session salt of AEAD_AES_128_GCM: of RTP, or of RTCP, in one direction. Source: RFC 7714.
struct SRTPCipher {
    static let saltSize = 12
    static let tagSize = 16

    private let key: SymmetricKey
    private let salt: [UInt8]

    /// Takes 16 bytes of key and 12 of salt.
    init(key: [UInt8], salt: [UInt8]) {
        precondition(key.count == 16 && salt.count == Self.saltSize)
        self.key = SymmetricKey(data: key)
        self.salt = salt
    }

    /// Encrypts what follows the header, and appends the tag.
    ///
    /// - Parameters:
    ///   - packet: the whole packet.
    ///   - header: how many bytes stay readable, but are authenticated.
    ///   - trailer: what is authenticated after the header, and not added to the packet.
    ///   - nonce: unique for this key.
    func seal(_ packet: inout [UInt8], header: Int, trailer: [UInt8] = [], nonce: SRTPNonce) {
        do {
            let box = try AES.GCM.seal(
                packet[header...], using: key, nonce: AES.GCM.Nonce(data: nonce.bytes(salt)),
                authenticating: packet[..<header] + trailer)
            Self.put(box.ciphertext, into: &packet, at: header)
            packet.append(contentsOf: box.tag)
        } catch {
            preconditionFailure("a key of 16 bytes and a nonce of 12: \(error)")
        }
    }

    /// Decrypts what follows the header, and takes the tag away.
    ///
    /// - Parameters:
    ///   - packet: header, ciphertext and tag; without changes when this throws.
    ///   - header: how many bytes of it are readable.
    ///   - trailer: what is authenticated after the header, and not part of the packet here.
    ///   - nonce: what it was sealed with.
    /// - Throws: `malformed` when it is too short, `forged` when header, trailer, text or tag are not what was sealed.
    func open(
        _ packet: inout [UInt8], header: Int, trailer: [UInt8] = [], nonce: SRTPNonce
    ) throws(SRTPError) {
        guard header <= packet.count - Self.tagSize else { throw .malformed }
        do {
            let box = try AES.GCM.SealedBox(combined: nonce.bytes(salt) + packet[header...])
            let plain = try AES.GCM.open(box, using: key, authenticating: packet[..<header] + trailer)
            Self.put(plain, into: &packet, at: header)
            packet.removeLast(Self.tagSize)
        } catch {
            throw .forged
        }
    }

    private static func put(_ bytes: some Collection<UInt8>, into packet: inout [UInt8], at offset: Int) {
        packet.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset...]).copyBytes(from: bytes) }
    }
}

/// What makes a packet's nonce its own: who sent it, and as which packet.
struct SRTPNonce {
    let ssrc: UInt32
    /// Of RTP the 48 bits of roll-over counter and sequence number; of RTCP the index of 31 bits. Source: RFC 7714,
    /// sections 8.1 and 9.1; as the latter's index is preceded by 16 bits of zero, both are written alike.
    let index: UInt64

    /// The nonce under a session salt.
    func bytes(_ salt: [UInt8]) -> [UInt8] {
        var bytes = salt
        for place in 0..<4 { bytes[2 + place] ^= UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * place)) }
        for place in 0..<6 { bytes[6 + place] ^= UInt8(truncatingIfNeeded: index >> (40 - 8 * place)) }
        return bytes
    }
}
