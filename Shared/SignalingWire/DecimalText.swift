/// Converts whole numbers to and from decimal text in bytes, without a `String` in between.
package enum DecimalText {
    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(of: number.magnitude, to: &bytes)
    }

    /// The length of the number's text in bytes.
    package static func count(_ number: Int64) -> Int {
        var count = number < 0 ? 2 : 1
        var rest = number.magnitude
        while rest > 9 {
            rest /= 10
            count += 1
        }
        return count
    }

    private static func appendDigits(of number: UInt64, to bytes: inout [UInt8]) {
        let (rest, digit) = number.quotientAndRemainder(dividingBy: 10)
        if rest > 0 { appendDigits(of: rest, to: &bytes) }
        bytes.append(UInt8(ascii: "0") + UInt8(digit))
    }

    /// The number that the bytes spell: an optional minus sign and 1...19 digits, nothing else; nil otherwise.
    ///
    /// Not for any collection: such a function would not be specialized for callers in other modules.
    package static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var number: Int64 = 0
        var digits = 0
        var isNegative = false
        for byte in bytes {
            if byte == UInt8(ascii: "-"), digits == 0, !isNegative {
                isNegative = true
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            // Accumulated as a negative number, because `Int64.min` has no positive counterpart.
            let (shifted, tooLarge) = number.multipliedReportingOverflow(by: 10)
            let (next, tooLow) = shifted.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !tooLarge, !tooLow else { return nil }
            number = next
            digits += 1
        }
        guard digits > 0 else { return nil }
        if isNegative { return number }
        return number == .min ? nil : -number
    }

    /// The number that the bytes spell, as above.
    package static func parse(_ bytes: ArraySlice<UInt8>) -> Int64? { bytes.withUnsafeBufferPointer { parse($0) } }
}
