/// Names with values, in order: the fields of a command, an answer or a record.
///
/// Used natively as the field/value pairs of a Redis stream or hash (``pairs``), or packed into one value (``encoded``):
/// `<bytes of the name>:<name><bytes of the value>:<value>`, repeated. A value may itself be packed fields.
package struct FieldWriter: Sendable {
    /// What was put so far, in order.
    package private(set) var pairs: [(name: String, value: [UInt8])] = []

    /// No fields.
    package init() {}

    /// Adds bytes.
    package mutating func put(_ name: String, _ value: [UInt8]) { pairs.append((name, value)) }

    /// Adds text.
    package mutating func put(_ name: String, _ value: String) { put(name, Array(value.utf8)) }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: Int64) { put(name, String(value)) }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: Int) { put(name, String(value)) }

    /// Adds a number as decimal text.
    package mutating func put(_ name: String, _ value: UInt32) { put(name, String(value)) }

    /// Adds `1` or `0`.
    package mutating func put(_ name: String, _ value: Bool) { put(name, value ? "1" : "0") }

    /// Adds a record, packed.
    package mutating func put(_ name: String, _ value: some FieldCodable) {
        var inner = FieldWriter()
        value.write(to: &inner)
        put(name, inner.encoded)
    }

    /// Adds a list of records, packed.
    package mutating func put(_ name: String, list: [some FieldCodable]) {
        var inner = FieldWriter()
        for element in list { inner.put("", element) }
        put(name, inner.encoded)
    }

    /// All fields packed into one value.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 12 })
        for (name, value) in pairs {
            DecimalText.append(Int64(name.utf8.count), to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: name.utf8)
            DecimalText.append(Int64(value.count), to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: value)
        }
        return bytes
    }
}
