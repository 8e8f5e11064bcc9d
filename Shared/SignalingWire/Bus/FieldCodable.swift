package import SignalingProtocol

/// A value that is sent within the cluster as named fields. Most types declare their fields as a ``FieldRecord``. This
/// protocol is implemented directly where the fields depend on the value: alternatives, and names that are not fixed.
package protocol FieldCodable {
    /// Adds the value's fields.
    func write(to writer: inout FieldWriter)
    /// Reads the value's fields.
    /// - Throws: `SignalingError` when a field is missing or malformed.
    init(from reader: FieldReader) throws(SignalingError)
}

/// A command that can be sent over a service's stream. The field names `op`, `id`, `from` and `until` belong to the
/// envelope.
package protocol WireCommand: ServiceCommand, FieldCodable where Reply: FieldCodable {}

extension Done: FieldCodable {
    package func write(to writer: inout FieldWriter) {}
    package init(from reader: FieldReader) throws(SignalingError) { self.init() }
}

extension FieldWriter {
    mutating func put(_ name: String, _ code: SignalingCode) { put(name, code.rawValue) }
}

extension FieldReader {
    func code(_ name: String) throws(SignalingError) -> SignalingCode {
        guard let code = SignalingCode(rawValue: try int(name)) else { throw Self.malformed(name, "signaling code") }
        return code
    }
}
