/// Why a header that the caller asked for is not sent.
package enum OutgoingHeaderProblem: String, Error, Sendable, CaseIterable {
    /// The name is empty, too long, or has a character that names cannot have.
    case invalidName = "invalid_name"
    /// The name is neither `X-...` nor `User-to-User`: others are the bridge's and the trunk's own to write.
    case reservedName = "reserved_name"
    /// The value has a control character.
    case invalidValue = "invalid_value"
    /// More than ``OutgoingHeaders/countBound``.
    case tooMany = "too_many"
    /// More bytes than ``OutgoingHeaders/byteBound``.
    case tooLong = "too_long"
}

/// The header fields that a caller adds to an INVITE: `sip_header:NAME` in its `extra`.
///
/// Those are `X-...` and `User-to-User` (RFC 7433); no value can begin another line.
package struct OutgoingHeaders: Equatable, Sendable {
    /// Fields at most.
    package static let countBound = 32
    /// Bytes of all names and values at most: an INVITE by UDP has to fit into one datagram.
    package static let byteBound = 4096
    private static let nameBound = 64

    /// In the order given; each name once, the later of two that differ in case only.
    package private(set) var fields: [SIPHeaderField] = []

    /// None.
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

    /// Who calls, on whose behalf, who pays and what may be shown are the trunk's to say, not a caller's; so the few names
    /// that are the callers' are listed, not the many that are not.
    private static func isReserved(_ name: String) -> Bool { !(name.hasPrefix("x-") || name == "user-to-user") }
}
