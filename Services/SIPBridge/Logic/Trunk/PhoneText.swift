/// Numbers and the user parts of SIP URIs (RFC 3261, section 25).
enum PhoneText {
    /// Whether a byte may be in the user part of a URI as it is.
    static func isUser(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-_.!~*'()&=+$,/".utf8.contains(byte)
    }

    /// A user part, everything else escaped.
    static func escapedUser(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if isUser(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = Array("0123456789ABCDEF")
                result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return result
    }

    /// A user part with its escapes resolved; nil when that is no text.
    static func unescaped(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Whether the text is a telephone number: digits, `*` and `#`, at most one `+` before them.
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
