/// The value of `From` or `To`: whether it holds together, and whether it has a tag. Source: RFC 3261 section 20.10.
struct SIPAddress {
    let hasTag: Bool

    /// Nil when quotation marks or brackets are unbalanced, the name holds what it may not, or there is no URI.
    init?(_ value: [UInt8]) {
        guard let parts = SIPBytes.split(value[...], at: UInt8(ascii: ";")), let address = parts.first else {
            return nil
        }
        guard Self.isAddress(SIPBytes.trimmed(address)) else { return nil }
        hasTag = parts.dropFirst().contains { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return SIPBytes.equalIgnoringCase(SIPBytes.trimmed(name), "tag")
        }
    }

    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let last = bytes.last else { return false }
        guard last == UInt8(ascii: ">") else { return isURI(bytes) }
        let uriStart: Int
        if bytes.first == UInt8(ascii: "\"") {
            guard let end = quotedEnd(bytes) else { return false }
            let rest = bytes[end...].drop(while: SIPBytes.isSpace)
            guard rest.first == UInt8(ascii: "<") else { return false }
            uriStart = rest.startIndex
        } else {
            guard let open = bytes.firstIndex(of: UInt8(ascii: "<")),
                bytes[..<open].allSatisfy({ SIPBytes.isToken($0) || SIPBytes.isSpace($0) })
            else { return false }
            uriStart = open
        }
        return isURI(bytes[(uriStart + 1)...].dropLast())
    }

    private static func isURI(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains(UInt8(ascii: ":")) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "<") }
    }

    /// The index after the closing quotation mark.
    private static func quotedEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex + 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return nil
    }
}
