/// Bytes written as `%` and two hexadecimal digits. Source: RFC 3986, section 2.1.
package enum PercentEscape {
    /// Escapes the bytes that separate fields in the cluster's own keys and lines: `%`, `:`, `{`, `}`, `.`, space.
    package static func escape(_ text: String) -> String {
        guard hasSeparators(text) else { return text }
        return escape(text) { !isSeparator($0) }
    }

    /// Whether the text has any of these bytes.
    private static func hasSeparators(_ text: String) -> Bool { text.utf8.contains(where: isSeparator) }

    /// Escapes all bytes except those to keep, with upper-case digits.
    package static func escape(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                Hex.append(byte, to: &bytes, isUpperCase: true)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Resolves the escapes.
    /// - Parameter allowsLowerCase: whether the digits `a` to `f` are accepted too, as others write them. Not in the
    ///   cluster's own keys, where each name must have only one spelling.
    /// - Returns: nil when an escape is cut short or not hexadecimal, or the result is not UTF-8.
    package static func unescape(_ text: String, allowsLowerCase: Bool = false) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        func nibble(_ digit: UInt8) -> UInt8? {
            digit >= UInt8(ascii: "a") && !allowsLowerCase ? nil : Hex.value(of: digit)
        }
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(nibble), let low = rest.next().flatMap(nibble) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(utf8: bytes[...])
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "."),
            UInt8(ascii: " "):
            true
        default: false
        }
    }
}
