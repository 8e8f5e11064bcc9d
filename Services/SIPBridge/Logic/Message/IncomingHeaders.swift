/// The header fields of an inbound INVITE that the user's client is shown.
package struct IncomingHeaders: Equatable, Sendable {
    /// Fields at most; further ones are left out.
    package static let countBound = 16
    /// Bytes of one value at most; a longer one is left out.
    package static let valueBound = 512
    /// Bytes of all values at most.
    package static let byteBound = 4096

    /// In the order of the message.
    package private(set) var fields: [SIPHeaderField] = []
    /// How many were left out.
    package private(set) var omitted = 0

    /// Selects from a message's fields: `X-` headers, who is calling on whose behalf, and what the other side attached.
    package init(_ headers: some Sequence<SIPHeaderField>) {
        var bytes = 0
        for header in headers where Self.isShown(header.canonicalName) {
            guard fields.count < Self.countBound, header.value.utf8.count <= Self.valueBound,
                bytes + header.value.utf8.count <= Self.byteBound,
                header.name.utf8.allSatisfy(SIPHeaderField.isTokenByte)
            else {
                omitted += 1
                continue
            }
            bytes += header.value.utf8.count
            fields.append(header)
        }
    }

    private static func isShown(_ name: String) -> Bool {
        name.hasPrefix("x-") || name == "p-asserted-identity" || name == "diversion" || name == "user-to-user"
    }
}
