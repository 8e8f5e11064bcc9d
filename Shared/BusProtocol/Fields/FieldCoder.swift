package import SignalingProtocol

/// A value that is sent within the cluster as named fields. Types declare their fields as a ``FieldRecord``, which
/// implements this protocol.
package protocol FieldCodable {
    /// Adds the value's fields.
    func write(to writer: inout FieldWriter)
    /// Reads the value's fields.
    /// - Throws: `SignalingError` when a field is missing or malformed.
    init(from reader: FieldReader) throws(SignalingError)
    /// Whether what the fields say is something that only a newer release knows, as ``FieldValue/isUnknown(_:in:)``
    /// tells of one field; default false. An optional record is then read as nil.
    static func isUnknown(in reader: FieldReader) -> Bool
}

extension FieldCodable {
    package static func isUnknown(in reader: FieldReader) -> Bool { false }
}

/// A value whose fields are declared once, in ``init(fields:)``, for both writing and reading.
///
/// The declaration also determines compatibility. A newer release may add a field if older readers can do without it
/// (they ignore unknown fields) and if newer readers declare it as ``FieldCoder/optional(_:_:)``. A command whose
/// fields change in any other way gets a new ``ServiceCommand/operation``.
package protocol FieldRecord: FieldCodable {
    /// Declares the fields, in their order on the wire.
    ///
    ///     self.init(name: try fields.field("name", \.name), value: try fields.field("value", \.value))
    ///
    /// An enumeration declares the name of its case as a field, and in a `switch` over it the fields of each case: see
    /// `PhoneAct`.
    ///
    /// - Parameter fields: reads each field, or writes it from a record; in both cases returns the field's value.
    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure)
}

extension FieldRecord {
    package func write(to writer: inout FieldWriter) {
        // The writer's bytes are moved to the coder and back, not copied.
        var coder = FieldEncoder(record: self)
        swap(&coder.writer, &writer)
        _ = Self(fields: &coder)
        swap(&coder.writer, &writer)
    }

    package init(from reader: FieldReader) throws(SignalingError) {
        var coder = FieldDecoder<Self>(reader: reader)
        try self.init(fields: &coder)
    }
}

/// Reads or writes the fields that a ``FieldRecord`` declares. All coders are in this module and inlined there, so a
/// declaration compiles to the same code as handwritten calls of ``FieldWriter`` and ``FieldReader``, without key paths
/// at run time.
package protocol FieldCoder<Record> {
    /// The type of value that is written or read.
    associatedtype Record
    /// `SignalingError` when fields are read, `Never` when they are written.
    associatedtype Failure: Error

    /// One field.
    mutating func field<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value>) throws(Failure) -> Value
    /// One field that older releases do not write; `standard` where it is absent.
    mutating func field<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value>, standard: Value
    ) throws(Failure) -> Value
    /// One field of an alternative that always has it, while the record's other alternatives do not.
    mutating func own<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value?>) throws(Failure) -> Value
    /// One field for each value, all of the same name.
    mutating func repeated<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, [Value]>
    ) throws(Failure) -> [Value]
    /// One field that is absent when the value is nil. A value that only a newer release knows is read as nil too, so
    /// that the record around it is kept; a malformed one is an error.
    mutating func optional<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value?>) throws(Failure) -> Value?
    /// One field with a packed list of records.
    mutating func list<Value: FieldCodable>(_ name: String, _ path: KeyPath<Record, [Value]>) throws(Failure) -> [Value]
    /// The fields of another record, among this one's own.
    mutating func fields<Value: FieldCodable>(of path: KeyPath<Record, Value>) throws(Failure) -> Value
    /// The fields of another record that this alternative always has, while the record's other alternatives do not.
    mutating func ownFields<Value: FieldCodable>(of path: KeyPath<Record, Value?>) throws(Failure) -> Value
    /// The fields of a record, among this one's own, none of which is there when the value is nil. A record that only a
    /// newer release knows is read as nil too.
    /// - Parameter name: a field that the value always has.
    mutating func optionalFields<Value: FieldCodable>(
        of path: KeyPath<Record, Value?>, with name: String
    ) throws(Failure) -> Value?
}

/// Writes the fields of a record and returns their values.
struct FieldEncoder<Record>: FieldCoder {
    typealias Failure = Never

    let record: Record
    var writer = FieldWriter()

    init(record: Record) { self.record = record }

    @inline(__always)
    mutating func field<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value>) -> Value {
        let value = record[keyPath: path]
        value.put(as: name, in: &writer)
        return value
    }

    @inline(__always)
    mutating func field<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value>, standard: Value
    ) -> Value {
        field(name, path)
    }

    @inline(__always)
    mutating func own<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value?>) -> Value {
        guard let value = optional(name, path) else { preconditionFailure("the alternative has no \(name)") }
        return value
    }

    mutating func repeated<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, [Value]>) -> [Value] {
        let values = record[keyPath: path]
        for value in values { value.put(as: name, in: &writer) }
        return values
    }

    @inline(__always)
    mutating func optional<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value?>) -> Value? {
        let value = record[keyPath: path]
        if let value { value.put(as: name, in: &writer) }
        return value
    }

    @inline(__always)
    mutating func list<Value: FieldCodable>(_ name: String, _ path: KeyPath<Record, [Value]>) -> [Value] {
        let values = record[keyPath: path]
        writer.put(name, list: values)
        return values
    }

    @inline(__always)
    mutating func fields<Value: FieldCodable>(of path: KeyPath<Record, Value>) -> Value {
        let value = record[keyPath: path]
        value.write(to: &writer)
        return value
    }

    @inline(__always)
    mutating func ownFields<Value: FieldCodable>(of path: KeyPath<Record, Value?>) -> Value {
        guard let value = record[keyPath: path] else { preconditionFailure("the alternative has no \(Value.self)") }
        value.write(to: &writer)
        return value
    }

    @inline(__always)
    mutating func optionalFields<Value: FieldCodable>(
        of path: KeyPath<Record, Value?>, with name: String
    ) -> Value? {
        let value = record[keyPath: path]
        value?.write(to: &writer)
        return value
    }
}

/// Reads the fields of a record.
struct FieldDecoder<Record>: FieldCoder {
    typealias Failure = SignalingError

    let reader: FieldReader

    @inline(__always)
    mutating func field<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value>
    ) throws(SignalingError) -> Value {
        try Value(name, from: reader)
    }

    @inline(__always)
    mutating func field<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value>, standard: Value
    ) throws(SignalingError) -> Value {
        guard reader.optionalString(name) != nil else { return standard }
        return try Value(name, from: reader)
    }

    @inline(__always)
    mutating func own<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value?>
    ) throws(SignalingError) -> Value {
        try Value(name, from: reader)
    }

    mutating func repeated<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, [Value]>
    ) throws(SignalingError) -> [Value] {
        var values: [Value] = []
        for index in reader.fields.indices where reader.fields[index].name == name {
            values.append(try Value(name, from: FieldReader(fields: reader.fields[index...index])))
        }
        return values
    }

    @inline(__always)
    mutating func optional<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value?>
    ) throws(SignalingError) -> Value? {
        guard reader.optionalString(name) != nil, !Value.isUnknown(name, in: reader) else { return nil }
        return try Value(name, from: reader)
    }

    @inline(__always)
    mutating func list<Value: FieldCodable>(
        _ name: String, _ path: KeyPath<Record, [Value]>
    ) throws(SignalingError) -> [Value] {
        try reader.list(name, of: Value.self)
    }

    @inline(__always)
    mutating func fields<Value: FieldCodable>(of path: KeyPath<Record, Value>) throws(SignalingError) -> Value {
        try Value(from: reader)
    }

    @inline(__always)
    mutating func ownFields<Value: FieldCodable>(of path: KeyPath<Record, Value?>) throws(SignalingError) -> Value {
        try Value(from: reader)
    }

    @inline(__always)
    mutating func optionalFields<Value: FieldCodable>(
        of path: KeyPath<Record, Value?>, with name: String
    ) throws(SignalingError) -> Value? {
        guard reader.optionalString(name) != nil, !Value.isUnknown(in: reader) else { return nil }
        return try Value(from: reader)
    }
}
