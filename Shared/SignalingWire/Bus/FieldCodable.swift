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

/// A command that can be sent over a service's stream. The field names `op`, `id`, `from` and `until` belong to the
/// envelope.
package protocol WireCommand: ServiceCommand, FieldCodable where Reply: FieldCodable {}

extension Done: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) { self.init() }
}
