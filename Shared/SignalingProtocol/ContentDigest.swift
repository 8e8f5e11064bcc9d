internal import CCrypto

/// Digests of content, in the lower-case hexadecimal text that protocols write them in.
public enum ContentDigest: Sendable, CaseIterable {
    /// MD5: for protocols that know nothing better.
    case md5
    /// SHA-256.
    case sha256

    /// The digest of a text's UTF-8 bytes.
    public func text(of content: String) -> String {
        let bytes = Array(content.utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let status = EVP_Digest(bytes, bytes.count, &digest, &size, function, nil)
        // Only a build of OpenSSL without the function can refuse it, and then nothing of ours works.
        precondition(status == 1, "OpenSSL has no \(self)")
        return Hex.text(digest[..<Int(size)])
    }

    /// The keyed digest (HMAC) of a text's UTF-8 bytes.
    public func text(of content: String, key: String) -> String {
        let bytes = Array(content.utf8)
        let keyBytes = Array(key.utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let made = HMAC(function, keyBytes, Int32(keyBytes.count), bytes, bytes.count, &digest, &size)
        precondition(made != nil, "OpenSSL has no HMAC of \(self)")
        return Hex.text(digest[..<Int(size)])
    }

    private var function: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha256: EVP_sha256()
        }
    }
}
