internal import CCrypto
internal import SignalingProtocol

/// Digests of text, in the textual forms that protocols use.
package enum ContentDigest: Sendable, CaseIterable {
    /// MD5, for protocols that support nothing better.
    case md5
    /// SHA-1, for protocols that prescribe it where nothing depends on its strength, such as the WebSocket handshake.
    case sha1
    /// SHA-256.
    case sha256

    /// The digest of a text's UTF-8 bytes, in lower-case hexadecimal.
    package func text(of content: String) -> String { Hex.text(digest(of: content)) }

    /// The digest of a text's UTF-8 bytes, in base64 with padding (RFC 4648, section 4).
    package func base64(of content: String) -> String {
        Base64.text(digest(of: content))
    }

    private func digest(of content: String) -> [UInt8] {
        let bytes = Array(content.utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let status = EVP_Digest(bytes, bytes.count, &digest, &size, function, nil)
        // Fails only with an OpenSSL built without the algorithm; no login could be checked with it.
        precondition(status == 1, "OpenSSL has no \(self)")
        return Array(digest[..<Int(size)])
    }

    /// The keyed digest (HMAC) of a text's UTF-8 bytes, in lower-case hexadecimal.
    package func text(of content: String, key: String) -> String {
        text(of: Array(content.utf8), key: Array(key.utf8))
    }

    /// The keyed digest (HMAC) of bytes, in lower-case hexadecimal.
    package func text(of content: [UInt8], key: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let made = HMAC(function, key, Int32(key.count), content, content.count, &digest, &size)
        precondition(made != nil, "OpenSSL has no HMAC of \(self)")
        return Hex.text(Array(digest[..<Int(size)]))
    }

    private var function: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }
}
