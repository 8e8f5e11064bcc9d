/// Classes of bytes and small scans; source: RFC 3261 section 25.1.
enum SIPBytes {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-.!%*_+`'~".utf8.contains(byte)
        }
    }

    static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool { !bytes.isEmpty && bytes.allSatisfy(isToken) }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
        return rest
    }

    /// A decimal number without a sign, of at most 20 digits; nil past `bound`.
    static func number(_ bytes: ArraySlice<UInt8>, upTo bound: UInt64) -> UInt64? {
        guard !bytes.isEmpty, bytes.count <= 20 else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
            if value > bound { return nil }
        }
        return value
    }

    static func equalIgnoringCase(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { other in
            bytes.count == other.count && zip(bytes, other).allSatisfy { lowercased($0) == lowercased($1) }
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Splits at `separator` outside quoted strings and angle brackets; nil when one of them is not closed.
    static func split(_ bytes: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>]? {
        var parts: [ArraySlice<UInt8>] = []
        var (start, index) = (bytes.startIndex, bytes.startIndex)
        var (quoted, bracketed) = (false, false)
        while index < bytes.endIndex {
            let byte = bytes[index]
            if quoted {
                if byte == UInt8(ascii: "\\") { index += 1 } else if byte == UInt8(ascii: "\"") { quoted = false }
            } else if byte == UInt8(ascii: "\"") {
                quoted = true
            } else if byte == UInt8(ascii: "<") {
                if bracketed { return nil }
                bracketed = true
            } else if byte == UInt8(ascii: ">") {
                if !bracketed { return nil }
                bracketed = false
            } else if byte == separator, !bracketed {
                parts.append(bytes[start..<index])
                start = index + 1
            }
            index += 1
        }
        if quoted || bracketed || index > bytes.endIndex { return nil }
        parts.append(bytes[start...])
        return parts
    }
}
