/// Writes named fields in order: those of a command, an answer or a kept record.
///
/// They are packed into one value as they come (``encoded``): `<bytes of the name>:<name><bytes of the value>:<value>`,
/// repeated. A value may itself be packed fields. ``pairs`` are the same fields apart, for a Redis hash.
package struct FieldWriter: Sendable {
    /// All fields so far, packed into one value.
    package private(set) var encoded: [UInt8] = []

    /// Bytes of most commands: room for them is made at once.
    private static let usualSize = 256

    /// No fields.
    package init() {}

    /// The fields apart, in order, as copies.
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

    /// Adds `1` or `0`.
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

    /// Puts the length of a value in front of it; the value reaches from `start` to the end.
    private mutating func insertLength(of start: Int) {
        var rest = encoded.count - start
        var index = start + DecimalText.count(Int64(rest))
        // The colon stands where the last of them is; the digits take the places of the others.
        encoded.insert(contentsOf: repeatElement(UInt8(ascii: ":"), count: index - start + 1), at: start)
        repeat {
            index -= 1
            encoded[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
    }
}
