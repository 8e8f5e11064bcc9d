/// A name that equals another one only when their UTF-8 bytes are equal.
///
/// `String` compares by canonical equivalence, so the two Unicode spellings of "é" are one key of a Swift dictionary
/// but two keys in Redis and PostgreSQL. Identifiers compare as the stores do.
package protocol ByteIdentifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's text, as clients and stores have it.
    var rawValue: String { get }
}

extension ByteIdentifier {
    /// Equality of the UTF-8 bytes.
    package static func == (left: Self, right: Self) -> Bool {
        var (left, right) = (left.rawValue, right.rawValue)
        return left.withUTF8 { left in right.withUTF8 { left.count == $0.count && left.elementsEqual($0) } }
    }

    /// Order of the UTF-8 bytes.
    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// Hashes the UTF-8 bytes, so that hashing agrees with `==`.
    package func hash(into hasher: inout Hasher) {
        var text = rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    /// The raw text.
    package var description: String { rawValue }
}
