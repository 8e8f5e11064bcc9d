/// Why a header field that a caller requested is not sent.
package enum OutgoingHeaderProblem: String, Error, Sendable, CaseIterable {
    /// The name is empty, too long, or contains an invalid character.
    case invalidName = "invalid_name"
    /// The name is neither `X-...` nor `User-to-User`: other fields are set only by the bridge and the trunk.
    case reservedName = "reserved_name"
    /// The value contains a control character.
    case invalidValue = "invalid_value"
    /// There are more fields than ``OutgoingHeaders/countBound``.
    case tooMany = "too_many"
    /// The fields are larger than ``OutgoingHeaders/byteBound``.
    case tooLong = "too_long"
}

/// The header fields that a caller adds to an INVITE, by `sip_header:NAME` in its `extra`.
///
/// Allowed are `X-...` and `User-to-User` (RFC 7433); no value can start another line.
package struct OutgoingHeaders: Equatable, Sendable {
    /// The largest number of fields.
    package static let countBound = 32
    /// The largest total size of names and values in bytes: an INVITE over UDP must fit into one datagram.
    package static let byteBound = 4096
    private static let nameBound = 64

    /// The fields, in the order given. Names that differ only in case are one field, with the later value.
    package private(set) var fields: [SIPHeaderField] = []

    /// Creates an empty set of fields.
    package init() {}

    /// Adds a field.
    /// - Throws: ``OutgoingHeaderProblem``.
    package mutating func add(name: String, value: String) throws(OutgoingHeaderProblem) {
        guard (1...Self.nameBound).contains(name.utf8.count), name.utf8.allSatisfy(SIPHeaderField.isTokenByte) else {
            throw .invalidName
        }
        let folded = name.lowercased()
        guard !Self.isReserved(folded) else { throw .reservedName }
        guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else { throw .invalidValue }
        var next = fields.filter { $0.name.lowercased() != folded }
        guard next.count < Self.countBound else { throw .tooMany }
        next.append(SIPHeaderField(name, value))
        guard next.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.byteBound else {
            throw .tooLong
        }
        fields = next
    }

    /// Fields about who calls, on whose behalf, who pays and what may be shown belong to the trunk, not to callers.
    /// Because there are many of those, only the allowed names are listed.
    private static func isReserved(_ name: String) -> Bool { !(name.hasPrefix("x-") || name == "user-to-user") }
}
