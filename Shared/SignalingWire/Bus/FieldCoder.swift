package import SignalingProtocol

/// A value whose fields are declared once, in ``init(fields:)``, for writing and for reading.
///
/// The declaration is the form's version too. A newer release may add a field if older readers can do without it (they ignore
/// what they do not know) and if newer readers take it as one that may be missing (``FieldCoder/optional(_:_:)``); a command whose
/// form changes otherwise gets a new ``ServiceCommand/operation``.
package protocol FieldRecord: FieldCodable {
    /// Goes through the fields, in their order on the wire.
    ///
    ///     self.init(name: try fields.field("name", \.name), value: try fields.field("value", \.value))
    ///
    /// - Parameter fields: reads each field, or writes it from a value and gives it back.
    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure)
}

extension FieldRecord {
    package func write(to writer: inout FieldWriter) {
        // The writer's bytes move to the coder and back, and are not copied.
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

/// What a ``FieldRecord`` declares its fields to. All coders are in this module, and inlined there: a declaration becomes the
/// same code as calls of ``FieldWriter`` and ``FieldReader`` written by hand, without key paths at run time.
package protocol FieldCoder<Record> {
    /// The value that is written or read.
    associatedtype Record
    /// `SignalingError` where fields are read.
    associatedtype Failure: Error

    /// One field.
    mutating func field<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value>) throws(Failure) -> Value
    /// One field, which is not there when the value is nil.
    mutating func optional<Value: FieldValue>(_ name: String, _ path: KeyPath<Record, Value?>) throws(Failure) -> Value?
    /// One field that holds a list of records, packed.
    mutating func list<Value: FieldCodable>(_ name: String, _ path: KeyPath<Record, [Value]>) throws(Failure) -> [Value]
    /// The fields of a record, among this one's own.
    mutating func fields<Value: FieldCodable>(of path: KeyPath<Record, Value>) throws(Failure) -> Value
}

/// Writes the fields of a record, and gives back what it writes.
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
    mutating func optional<Value: FieldValue>(
        _ name: String, _ path: KeyPath<Record, Value?>
    ) throws(SignalingError) -> Value? {
        guard reader.optionalString(name) != nil else { return nil }
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
}
