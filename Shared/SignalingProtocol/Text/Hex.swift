/// Hexadecimal text.
package enum Hex {
    private static let lowerCase = Array("0123456789abcdef".utf8)
    private static let upperCase = Array("0123456789ABCDEF".utf8)

    /// Encodes each byte as two lower-case digits.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes { append(byte, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes a number as eight lower-case digits.
    package static func text(_ number: UInt32) -> String {
        withUnsafeBytes(of: number.bigEndian) { text(Array($0)) }
    }

    /// Encodes a number as sixteen lower-case digits.
    package static func text(_ number: UInt64) -> String {
        text(UInt32(number >> 32)) + text(UInt32(truncatingIfNeeded: number))
    }

    /// Appends a byte as two digits, by default lower-case.
    package static func append(_ byte: UInt8, to text: inout [UInt8], isUpperCase: Bool = false) {
        let digits = isUpperCase ? upperCase : lowerCase
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }

    /// The number that 1 to 16 digits in either case denote; nil for other text.
    package static func number(_ text: some StringProtocol) -> UInt64? {
        guard (1...16).contains(text.utf8.count) else { return nil }
        var number: UInt64 = 0
        for byte in text.utf8 {
            guard let digit = value(of: byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// Whether a text is so many lower-case digits.
    package static func isLowerCase(_ text: Substring, digits: Int) -> Bool {
        let decimals = UInt8(ascii: "0")...UInt8(ascii: "9"), letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return text.utf8.count == digits && text.utf8.allSatisfy { decimals.contains($0) || letters.contains($0) }
    }

    /// The value of a digit in either case; nil for any other character.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
