internal import SignalingProtocol

/// Telephone numbers, and the user parts of SIP URIs (RFC 3261, section 25).
enum PhoneText {
    /// Whether a byte may appear unescaped in the user part of a URI.
    static func isUser(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-_.!~*'()&=+$,/".utf8.contains(byte)
    }

    /// Escapes text for the user part of a URI.
    static func escapedUser(_ text: String) -> String { PercentEscape.escape(text, keeping: isUser) }

    /// Resolves the escapes of a user part; nil when the result is not text.
    static func unescaped(_ text: some StringProtocol) -> String? {
        PercentEscape.unescape(String(text), allowsLowerCase: true)
    }

    /// Whether the text is a telephone number: digits, `*` and `#`, with at most one `+` in front.
    static func isNumber(_ text: some StringProtocol) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "+") ? Array(text.utf8.dropFirst()) : Array(text.utf8)
        return !digits.isEmpty
            && digits.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "#") }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
