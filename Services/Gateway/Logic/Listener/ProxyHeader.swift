/// The PROXY protocol header, version 1 (text) or 2 (binary), by which a proxy tells the client's address.
/// Source: HAProxy, "The PROXY protocol", sections 2.1 and 2.2.
package enum ProxyHeader: Equatable, Sendable {
    /// More bytes are needed.
    case incomplete
    /// The header's size in bytes and the client's address, 4 or 16 bytes; nil when the connection is the proxy's own
    /// (a health check) or the proxy does not know the address.
    case complete(size: Int, address: [UInt8]?)
    /// The bytes do not begin with a header, or the header is malformed.
    case invalid

    /// The longest accepted header in bytes: 107 in version 1; version 2 may carry extensions.
    package static let bound = 1024

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let textBound = 107

    /// Parses the first bytes of a connection.
    /// - Parameter parse: parses an address in text form into 4 or 16 bytes; nil when it is malformed.
    package init(_ bytes: [UInt8], parse: (String) -> [UInt8]?) {
        if bytes.prefix(Self.signature.count).elementsEqual(Self.signature.prefix(bytes.count)) {
            self = Self.binary(bytes)
        } else if bytes.prefix(6).elementsEqual(Array("PROXY ".utf8).prefix(bytes.count)) {
            self = Self.text(bytes, parse)
        } else {
            self = .invalid
        }
    }

    private static func binary(_ bytes: [UInt8]) -> ProxyHeader {
        guard bytes.count >= 16 else { return .incomplete }
        guard bytes[12] >> 4 == 2 else { return .invalid }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        let size = 16 + length
        guard size <= bound else { return .invalid }
        guard bytes.count >= size else { return .incomplete }
        switch (bytes[12] & 0xF, bytes[13]) {
        case (0, _): return .complete(size: size, address: nil)
        case (1, 0x11) where length >= 12: return .complete(size: size, address: Array(bytes[16..<20]))
        case (1, 0x21) where length >= 36: return .complete(size: size, address: Array(bytes[16..<32]))
        case (1, 0x00): return .complete(size: size, address: nil)
        default: return .invalid
        }
    }

    private static func text(_ bytes: [UInt8], _ parse: (String) -> [UInt8]?) -> ProxyHeader {
        let line = bytes.prefix(textBound)
        guard let end = line.firstIndex(of: 0x0A) else { return bytes.count < textBound ? .incomplete : .invalid }
        guard end > 0, line[end - 1] == 0x0D else { return .invalid }
        let fields = line[..<(end - 1)].split(separator: 0x20, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count >= 2, fields[0] == "PROXY" else { return .invalid }
        if fields[1] == "UNKNOWN" { return .complete(size: end + 1, address: nil) }
        let size = fields[1] == "TCP4" ? 4 : fields[1] == "TCP6" ? 16 : 0
        guard fields.count == 6, UInt16(fields[4]) != nil, UInt16(fields[5]) != nil,
            let source = parse(fields[2]), let target = parse(fields[3]), source.count == size, target.count == size
        else { return .invalid }
        return .complete(size: end + 1, address: source)
    }
}
