/// Writes JSON strings.
package enum JSONText {
    /// How many times a text is escaped: once inside a JSON string, twice inside a JSON text
    /// that is itself a JSON string, ...
    enum Depth: Int {
        case once = 1
        case twice
        case thrice
    }

    /// Appends a string with its quotes, escaping what JSON requires and no more.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a string with its quotes, escaping all control characters, including DEL, so that a log line is safe to
    /// show in a terminal. A line feed becomes `\n`, the others are written by number.
    package static func appendPrintable(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0x0A, UInt8(ascii: "\""), UInt8(ascii: "\\"): appendEscape(byte, .once, to: &bytes)
            case 0..<0x20, 0x7F:
                bytes.append(UInt8(ascii: "\\"))
                appendNumber(byte, to: &bytes)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends what needs no escape, such as the fixed parts of a frame.
    static func append(verbatim text: StaticString, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a string's content without quotes.
    static func appendEscaped(_ text: String, _ depth: Depth = .once, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { appendEscaped($0, depth, to: &bytes) }
    }

    /// Appends bytes of UTF-8 as a string's content without quotes; runs without specials are copied whole.
    static func appendEscaped(
        _ source: UnsafeBufferPointer<UInt8>, _ depth: Depth = .once, to bytes: inout [UInt8]
    ) {
        var start = 0
        while true {
            let end = firstSpecial(in: source, from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<end]))
            guard end < source.count else { return }
            appendEscape(source[end], depth, to: &bytes)
            start = end + 1
        }
    }

    /// The index of the first byte from `start` on that must be escaped in a JSON string (a quotation mark, a backslash
    /// or a control character); the end if there is none.
    static func firstSpecial(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        // Eight at a time; the bit tricks are those of "Bit Twiddling Hacks": a high bit for each byte that is zero or
        // less than n. A false positive is possible only above a true one, so the lowest bit is always right.
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= bytes.count {
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let quotes = word ^ 0x2222_2222_2222_2222
            let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
            let special =
                (quotes &- 0x0101_0101_0101_0101) & ~quotes
                | (backslashes &- 0x0101_0101_0101_0101) & ~backslashes
                | (word &- 0x2020_2020_2020_2020) & ~word
            guard special & 0x8080_8080_8080_8080 == 0 else { break }
            index += 8
        }
        while index < bytes.count, !isSpecial(bytes[index]) { index += 1 }
        return index
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscape(_ byte: UInt8, _ depth: Depth, to bytes: inout [UInt8]) {
        let backslash = UInt8(ascii: "\\")
        // Each level escapes the backslashes that the level before has added, and a
        // quotation mark or backslash itself too.
        let isItself = byte == UInt8(ascii: "\"") || byte == backslash
        let count = isItself ? (1 << depth.rawValue) - 1 : 1 << (depth.rawValue - 1)
        for _ in 0..<count { bytes.append(backslash) }
        switch byte {
        case _ where isItself: bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default: appendNumber(byte, to: &bytes)
        }
    }

    /// Appends the escape of an ASCII character by its number, without its backslash.
    private static func appendNumber(_ byte: UInt8, to bytes: inout [UInt8]) {
        append(verbatim: "u00", to: &bytes)
        bytes.append(UInt8(ascii: "0") + (byte >> 4))
        let low = byte & 15
        bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
}
