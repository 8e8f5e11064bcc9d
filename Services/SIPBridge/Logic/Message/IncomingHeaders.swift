/// The header fields of an inbound INVITE that are passed on to the user's client.
package struct IncomingHeaders: Equatable, Sendable {
    /// The largest number of fields; further ones are omitted.
    package static let countBound = 16
    /// The largest size of one value in bytes; larger ones are omitted.
    package static let valueBound = 512
    /// The largest total size of values in bytes.
    package static let byteBound = 4096

    /// The selected fields, in the order of the message.
    package private(set) var fields: [SIPHeaderField] = []
    /// The number of omitted fields.
    package private(set) var omitted = 0

    /// Selects fields of a message: `X-` headers, those that identify the caller and on whose behalf it calls, and
    /// those with attached data.
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
