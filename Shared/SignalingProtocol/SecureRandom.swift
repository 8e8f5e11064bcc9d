/// Unguessable text for lines, ids and certificates.
package enum SecureRandom {
    /// Hex text of random bytes from the system's generator.
    /// - Parameter bytes: how many random bytes; the text has twice as many characters.
    package static func hex(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var random: [UInt8] = []
        while random.count < bytes {
            // The generator asks the system for each number: all eight bytes of it are used.
            withUnsafeBytes(of: generator.next() as UInt64) { random.append(contentsOf: $0) }
        }
        return Hex.text(Array(random.prefix(bytes)))
    }
}
