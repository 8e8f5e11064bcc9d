internal import Crypto
internal import SignalingProtocol

/// A client's half of an X25519 agreement, of which the keys of its media are made. Source: `Docs/media.md`, "What
/// travels".
struct EngineKeyPair {
    /// The size of a public key.
    static let publicSize = 32

    private let key: Curve25519.KeyAgreement.PrivateKey

    /// Makes a new pair, which serves one call.
    init() { key = Curve25519.KeyAgreement.PrivateKey() }

    /// Makes a pair of known bytes; nil when they are no private key.
    init?(privateKey: [UInt8]) {
        guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey) else { return nil }
        self.key = key
    }

    /// The public half in base64, as `media.join` takes it.
    var publicKey: String { Base64.text(Array(key.publicKey.rawRepresentation)) }

    /// The keys with the node, for a participant.
    ///
    /// - Parameters:
    ///   - publicKey: the node's public key: base64 of 32 bytes, with padding.
    ///   - participant: the `pid` that the answer to the join has.
    /// - Throws: when this is no such text, or a key with which everybody would get the same secret (RFC 7748, section
    ///   6.1).
    func agree(publicKey: String, participant: String) throws(EngineKeyError) -> EngineKeys {
        // The text is compared with its own encoding, because the decoder takes texts without padding, and more behind
        // it.
        guard let bytes = Base64.bytes(Substring(publicKey)), bytes.count == Self.publicSize,
            Base64.text(bytes) == publicKey,
            let other = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
        else { throw .notAKey }
        guard let secret = try? key.sharedSecretFromKeyAgreement(with: other),
            secret.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { throw .sharedByAll }
        return EngineKeys(secret: secret, participant: participant)
    }
}

/// The keys of the media between a client and its node.
struct EngineKeys {
    /// What the client sends with.
    let client: SRTPKey
    /// What it receives with.
    let server: SRTPKey

    fileprivate init(secret: SharedSecret, participant: String) {
        func key(_ side: String) -> SRTPKey {
            let derived = secret.hkdfDerivedSymmetricKey(
                using: SHA256.self, salt: Array(participant.utf8), sharedInfo: Array("heliograph media \(side)".utf8),
                outputByteCount: SRTPKey.size)
            guard let key = SRTPKey(derived.withUnsafeBytes { Array($0) }) else {
                preconditionFailure("HKDF gives as many bytes as it is asked for")
            }
            return key
        }
        client = key("client")
        server = key("server")
    }
}

/// Why no keys could be made.
enum EngineKeyError: Error, Hashable {
    /// The node's text is not 32 bytes in base64.
    case notAKey
    /// The node's key has a shared secret of zeroes, whatever the client's is.
    case sharedByAll
}
