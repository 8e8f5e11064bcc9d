/// Escapes the few bytes that separate fields in our own keys and lines: `%`, `:`, `{`, `}`, `.`, space.
package enum PercentEscape {
    /// Replaces each separator by `%` and two upper-case hex digits.
    package static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: isSeparator) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            if isSeparator(byte) {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The inverse; nil when an escape is cut short, is not hex, or the result is not UTF-8.
    package static func unescape(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
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

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "."),
            UInt8(ascii: " "):
            true
        default: false
        }
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        hexDigits.firstIndex(of: byte).map(UInt8.init)
    }
}
