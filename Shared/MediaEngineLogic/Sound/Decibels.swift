/// Logarithms of powers, without the system's mathematics library: this module imports nothing.
enum Decibels {
    /// The power of full scale: a square wave of the largest samples, which is 0 dBov (RFC 6464 section 3).
    static let fullScalePower = 32_768.0 * 32_768.0

    /// The mean power of samples, 0 for none.
    static func power(of samples: some Collection<Int16>) -> Double {
        guard !samples.isEmpty else { return 0 }
        // Arrays and their slices are read as memory: of any collection, a function would be called for each sample.
        let sum = samples.withContiguousStorageIfAvailable { energy($0) } ?? energy(samples)
        return Double(sum) / Double(samples.count)
    }

    private static func energy(_ samples: some Collection<Int16>) -> Int64 {
        samples.reduce(Int64(0)) { $0 + Int64($1) * Int64($1) }
    }

    /// The level of a mean power in dBov; nil for digital silence.
    static func level(ofPower power: Double) -> Double? {
        power > 0 ? 10 * log10(power / fullScalePower) : nil
    }

    /// The decadic logarithm of a positive finite number, exact to 12 digits.
    static func log10(_ value: Double) -> Double {
        // ln m = 2 artanh((m - 1) / (m + 1)), whose series is short for a significand in 1..<2.
        let ratio = (value.significand - 1) / (value.significand + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        for odd in stride(from: 1.0, through: 27, by: 2) {
            sum += term / odd
            term *= square
        }
        let naturalOfTwo = 0.693_147_180_559_945_3
        let naturalOfTen = 2.302_585_092_994_046
        return (Double(value.exponent) * naturalOfTwo + 2 * sum) / naturalOfTen
    }
}
