/// Unguessable text for lines, ids and certificates.
package enum SecureRandom {
    /// Random bytes from the system's generator, in hexadecimal.
    /// - Parameter bytes: the number of bytes; the text has twice as many characters.
    package static func hex(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var random: [UInt8] = []
        while random.count < bytes {
            // The generator calls the system for each number, so all eight bytes are used.
            withUnsafeBytes(of: generator.next() as UInt64) { random.append(contentsOf: $0) }
        }
        return Hex.text(Array(random.prefix(bytes)))
    }

    /// Random letters and digits from the system's generator, each of the 62 equally likely.
    package static func alphanumeric(count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in alphanumerics[Int.random(in: alphanumerics.indices, using: &generator)] })
    }

    private static let alphanumerics = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
}
