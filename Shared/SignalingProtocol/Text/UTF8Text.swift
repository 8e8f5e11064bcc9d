/// Validates and decodes UTF-8. Our own code, because the standard library's `UTF8Span` and `String(validating:)`
/// require newer systems than the client libraries support (Docs/decisions/0011-clients-closure.md).
package enum UTF8Text {
    /// Whether the bytes are well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
    /// Source: The Unicode Standard, table 3-7.
    package static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            // Most frames contain only ASCII.
            guard bytes[index] >= 0x80 else {
                index = endOfASCII(bytes, from: index)
                continue
            }
            let length = sequenceLength(bytes, at: index)
            guard length > 0 else { return false }
            index += length
        }
        return true
    }

    /// The index of the first byte from `start` on that is not ASCII; the end if there is none.
    private static func endOfASCII(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index + 16 <= bytes.count {
            let first = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let second = raw.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
            guard (first | second) & highBits == 0 else { break }
            index += 16
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }

    /// The length in bytes of the well-formed sequence of two to four bytes that starts here; 0 when there is none.
    private static func sequenceLength(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        let length: Int
        // After some lead bytes, the second byte has a narrower range.
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard bytes.count - index >= length, second.contains(bytes[index + 1]) else { return 0 }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return 0 }
        return length
    }
}

extension String {
    /// Decodes UTF-8; nil when the bytes are not well-formed.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard UTF8Text.isValid(bytes) else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }

    /// Decodes UTF-8; nil when the bytes are not well-formed.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        guard let text = bytes.withUnsafeBufferPointer({ String(utf8: $0) }) else { return nil }
        self = text
    }
}
