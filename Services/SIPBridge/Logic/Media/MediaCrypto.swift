internal import SignalingProtocol

/// An `a=crypto` line of an SDP: an SRTP key (SDES, RFC 4568) for the one supported suite.
package struct MediaCrypto: Equatable, Sendable {
    /// The suite that we offer and accept.
    package static let suite = "AES_CM_128_HMAC_SHA1_80"
    /// The size in bytes of a master key and its salt.
    package static let keyBytes = 30

    /// The line's number; an answer repeats that of the accepted line.
    package var tag: Int
    /// Master key and salt.
    package var key: [UInt8]

    /// Creates a line.
    package init(tag: Int, key: [UInt8]) {
        precondition(key.count == Self.keyBytes)
        self.tag = tag
        self.key = key
    }

    /// Creates a line with a new key from the system's generator.
    package static func fresh() -> MediaCrypto {
        var generator = SystemRandomNumberGenerator()
        return MediaCrypto(
            tag: 1, key: (0..<keyBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Parses the attribute's value, such as `1 AES_CM_128_HMAC_SHA1_80 inline:...|2^20`.
    /// - Returns: nil for other suites, and for options that would change the packets in unsupported ways: a master key
    ///   identifier, several keys, session parameters (except the window hint `WSH`, which is only advice).
    package init?(_ value: String) {
        let fields = value.split(separator: " ")
        guard fields.count >= 3, fields[0].count <= 9, let tag = Int(fields[0]), tag >= 0, fields[1] == Self.suite,
            fields[2].hasPrefix("inline:"), fields.dropFirst(3).allSatisfy({ $0.hasPrefix("WSH=") })
        else { return nil }
        let parts = fields[2].dropFirst("inline:".count).split(separator: "|", omittingEmptySubsequences: false)
        // A lifetime may follow the key; no call reaches it. A field with a colon is a master key identifier.
        guard parts.count <= 2, parts.count == 1 || !parts[1].contains(":"), !fields[2].contains(";"),
            let key = Base64.bytes(parts[0]), key.count == Self.keyBytes
        else { return nil }
        self.init(tag: tag, key: key)
    }

    /// The attribute's value. Contains the key: never logged.
    package var value: String { "\(tag) \(Self.suite) inline:\(Base64.text(key))" }
}
