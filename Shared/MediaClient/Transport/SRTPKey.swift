internal import Crypto
internal import CryptoExtras

/// The master key and master salt of one direction, for AEAD_AES_128_GCM. Source: RFC 7714, section 12.
struct SRTPKey {
    /// A key of 16 bytes, then a salt of 12.
    static let size = 28
    private static let keySize = 16

    private let key: SymmetricKey
    private let salt: [UInt8]

    /// Takes the key, then the salt; nil unless there are 28 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        key = SymmetricKey(data: bytes[..<Self.keySize])
        salt = Array(bytes[Self.keySize...])
    }

    /// What encrypts RTP.
    var rtp: SRTPCipher { cipher(key: 0, salt: 2) }

    /// What encrypts RTCP.
    var rtcp: SRTPCipher { cipher(key: 3, salt: 5) }

    private func cipher(key: UInt8, salt: UInt8) -> SRTPCipher {
        SRTPCipher(key: derived(label: key), salt: Array(derived(label: salt).prefix(SRTPCipher.saltSize)))
    }

    /// The first 16 bytes of the key stream of a label, of which nothing here needs more. Source: RFC 3711, section
    /// 4.3; the salt is padded with zeroes on its right (RFC 7714, section 11), and keys are derived once (a key
    /// derivation rate of 0).
    private func derived(label: UInt8) -> [UInt8] {
        var block = salt + [0, 0, 0, 0]
        block[7] ^= label
        do {
            try AES.permute(&block, key: key)
        } catch {
            preconditionFailure("a block and a key of 16 bytes each: \(error)")
        }
        return block
    }
}
