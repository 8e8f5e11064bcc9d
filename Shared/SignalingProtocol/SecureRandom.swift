/// Unguessable text for lines, ids and certificates.
public enum SecureRandom {
    /// Hex text of random bytes from the system's generator.
    /// - Parameter bytes: how many random bytes; the text has twice as many characters.
    public static func hex(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Hex.text((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
