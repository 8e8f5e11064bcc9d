package import SignalingProtocol
internal import SignalingWire

/// Reads what ``FieldWriter`` wrote. Of several fields with the same name, the first counts; unknown fields are
/// ignored, so that a newer process may add some.
package struct FieldReader: Sendable {
    /// All fields, in order. Values are slices of the packed bytes, not copies, because a reply may have a million
    /// bytes in several levels of nesting.
    package let fields: ArraySlice<(name: String, value: ArraySlice<UInt8>)>

    /// Copies of the fields, in order.
    package var pairs: [(name: String, value: [UInt8])] { fields.map { (name: $0.name, value: Array($0.value)) } }

    /// Uses fields that Redis returns one by one, from a hash.
    package init(pairs: [(name: String, value: [UInt8])]) {
        fields = pairs.map { (name: $0.name, value: $0.value[...]) }[...]
    }

    /// Uses fields that another reader has parsed.
    package init(fields: ArraySlice<(name: String, value: ArraySlice<UInt8>)>) { self.fields = fields }

    /// Parses packed fields.
    /// - Throws: `SignalingError` (``SignalingCode/failed``, `bad_fields`) when the bytes
    ///   are not complete packed fields.
    package init(encoded: some Collection<UInt8>) throws(SignalingError) {
        try self.init(packed: Array(encoded)[...])
    }

    private init(packed bytes: ArraySlice<UInt8>) throws(SignalingError) {
        var fields: [(name: String, value: ArraySlice<UInt8>)] = []
        var rest = bytes
        while !rest.isEmpty {
            guard let name = Self.take(from: &rest), let text = String(utf8: name),
                let value = Self.take(from: &rest)
            else { throw SignalingError(.failed, .badFields, "the fields are truncated or malformed") }
            fields.append((text, value))
        }
        self.fields = fields[...]
    }

    /// The bytes of a field.
    /// - Throws: `SignalingError` (``SignalingCode/failed``, `bad_fields`) when the field is missing or malformed, as
    ///   all readers do.
    package func bytes(_ name: String) throws(SignalingError) -> [UInt8] { Array(try field(name)) }

    /// The text of a field.
    package func string(_ name: String) throws(SignalingError) -> String {
        guard let text = String(utf8: try field(name)) else { throw Self.malformed(name, "text") }
        return text
    }

    /// The bytes of a field that must be valid UTF-8.
    package func text(_ name: String) throws(SignalingError) -> [UInt8] {
        let value = try bytes(name)
        guard value.withUnsafeBufferPointer({ UTF8Text.isValid($0) }) else { throw Self.malformed(name, "text") }
        return value
    }

    /// The text of a field; nil when it is missing or not UTF-8.
    package func optionalString(_ name: String) -> String? {
        value(name).flatMap { String(utf8: $0) }
    }

    /// A number.
    package func int64(_ name: String) throws(SignalingError) -> Int64 {
        guard let number = DecimalText.parse(try field(name)) else { throw Self.malformed(name, "number") }
        return number
    }

    /// A number.
    package func int(_ name: String) throws(SignalingError) -> Int {
        guard let number = Int(exactly: try int64(name)) else { throw Self.malformed(name, "number") }
        return number
    }

    /// A number of 32 bits.
    package func uint32(_ name: String) throws(SignalingError) -> UInt32 {
        guard let number = UInt32(exactly: try int64(name)) else { throw Self.malformed(name, "32-bit number") }
        return number
    }

    /// A boolean, written as `1` or `0`.
    package func bool(_ name: String) throws(SignalingError) -> Bool {
        switch try bytes(name) {
        case [UInt8(ascii: "1")]: true
        case [UInt8(ascii: "0")]: false
        default: throw Self.malformed(name, "flag")
        }
    }

    /// A packed record.
    package func record<Record: FieldCodable>(_ name: String, as type: Record.Type) throws(SignalingError) -> Record {
        try Record(from: FieldReader(packed: try field(name)))
    }

    /// A packed list of records.
    package func list<Record: FieldCodable>(_ name: String, of type: Record.Type) throws(SignalingError) -> [Record] {
        var records: [Record] = []
        for (_, element) in try FieldReader(packed: try field(name)).fields {
            records.append(try Record(from: FieldReader(packed: element)))
        }
        return records
    }

    private func field(_ name: String) throws(SignalingError) -> ArraySlice<UInt8> {
        guard let value = value(name) else {
            throw SignalingError(.failed, .badFields, "the field \(name) is missing")
        }
        return value
    }

    private func value(_ name: String) -> ArraySlice<UInt8>? { fields.first { $0.name == name }?.value }

    static func malformed(_ name: String, _ kind: String) -> SignalingError {
        SignalingError(.failed, .badFields, "the field \(name) is not a valid \(kind)")
    }

    /// Removes `<length>:<bytes>` from the front; nil when it is incomplete.
    private static func take(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), let length = DecimalText.parse(rest[..<colon]),
            length >= 0, length <= rest.endIndex - colon - 1
        else { return nil }
        let start = colon + 1
        let end = start + Int(length)
        defer { rest = rest[end...] }
        return rest[start..<end]
    }
}
