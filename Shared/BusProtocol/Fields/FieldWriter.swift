internal import SignalingWire

/// Writes the named fields of a command, a reply or a stored record, in order.
///
/// They are packed into one byte string (``encoded``) as they are added: `<length of name>:<name><length of
/// value>:<value>`, repeated; lengths are in bytes. A value may itself be packed fields. ``pairs`` returns the fields
/// one by one, for a Redis hash.
package struct FieldWriter: Sendable {
    /// All fields so far, packed into one value.
    package private(set) var encoded: [UInt8] = []

    /// The number of bytes reserved for the first field; most commands fit.
    private static let usualSize = 256

    package init() {}

    /// Copies of the fields, in order.
    package var pairs: [(name: String, value: [UInt8])] {
        guard let reader = try? FieldReader(encoded: encoded) else {
            preconditionFailure("a FieldWriter wrote what FieldReader does not read")
        }
        return reader.pairs
    }

    /// Adds bytes.
    package mutating func put(_ name: String, _ value: [UInt8]) {
        startField(name)
        appendLength(value.count)
        encoded.append(contentsOf: value)
    }

    /// Adds text.
    package mutating func put(_ name: String, _ value: String) {
        startField(name)
        appendCounted(value)
    }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: Int64) {
        startField(name)
        appendLength(DecimalText.count(value))
        DecimalText.append(value, to: &encoded)
    }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: Int) { put(name, Int64(value)) }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: UInt32) { put(name, Int64(value)) }

    /// Adds a boolean as `1` or `0`.
    package mutating func put(_ name: String, _ value: Bool) { put(name, value ? "1" : "0") }

    /// Adds a record, packed.
    package mutating func put(_ name: String, _ value: some FieldCodable) {
        startField(name)
        let start = encoded.count
        value.write(to: &self)
        insertLength(of: start)
    }

    /// Adds a list of records, packed.
    package mutating func put(_ name: String, list: [some FieldCodable]) {
        startField(name)
        let start = encoded.count
        for element in list { put("", element) }
        insertLength(of: start)
    }

    /// Adds all fields of another writer, in their order.
    package mutating func append(_ other: FieldWriter) { encoded.append(contentsOf: other.encoded) }

    private mutating func startField(_ name: String) {
        if encoded.isEmpty { encoded.reserveCapacity(Self.usualSize) }
        appendCounted(name)
    }

    private mutating func appendCounted(_ text: String) {
        appendLength(text.utf8.count)
        encoded.append(contentsOf: text.utf8)
    }

    private mutating func appendLength(_ length: Int) {
        DecimalText.append(Int64(length), to: &encoded)
        encoded.append(UInt8(ascii: ":"))
    }

    /// Inserts the length of a nested value, which was written from `start` to the end, before it.
    private mutating func insertLength(of start: Int) {
        var rest = encoded.count - start
        var index = start + DecimalText.count(Int64(rest))
        // Makes room for the digits and the colon; the digits then replace all inserted colons but the last.
        encoded.insert(contentsOf: repeatElement(UInt8(ascii: ":"), count: index - start + 1), at: start)
        repeat {
            index -= 1
            encoded[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
    }
}
