/// Base64 with padding. Source: RFC 4648, section 4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, three as four characters.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text up to its padding, which may be missing; nil when it contains any other character.
    package static func bytes(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text.utf8.prefix(while: { $0 != UInt8(ascii: "=") }) {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}
