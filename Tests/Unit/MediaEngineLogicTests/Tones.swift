import Foundation

/// Sounds for tests, at 48 kHz.
enum Tones {
    /// A sine whose root mean square is `level` dBov, from the `start`th sample on.
    static func tone(level: Double, frequency: Double = 440, count: Int = 960, start: Int = 0) -> [Int16] {
        let amplitude = 32_768 * pow(10, level / 20) * 2.0.squareRoot()
        return (0..<count).map {
            Int16(clamping: Int((amplitude * sin(2 * .pi * frequency * Double($0 + start) / 48_000)).rounded()))
        }
    }

    /// White noise up to that amplitude.
    static func noise(amplitude: Int16, using random: inout SeededGenerator) -> [Int16] {
        (0..<960).map { _ in Int16.random(in: -amplitude...amplitude, using: &random) }
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
