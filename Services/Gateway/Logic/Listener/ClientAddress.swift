/// The address that a client is counted under: an IPv4 address, or the /64 network of an IPv6 address, because one
/// household or machine usually has a whole /64.
package struct ClientAddress: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// From 4 or 16 bytes in network order; nil for any other length. An IPv4-mapped IPv6 address counts as IPv4.
    package init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4:
            high = 0
            low = 0xFFFF_0000_0000 | Self.number(bytes[...])
        case 16:
            high = Self.number(bytes[..<8])
            let rest = Self.number(bytes[8...])
            low = high == 0 && rest >> 32 == 0xFFFF ? rest : 0
        default:
            return nil
        }
    }

    /// The /48 network of an IPv6 address, of which one site usually has a whole one; nil for IPv4.
    package var site: ClientSite? { high == 0 ? nil : ClientSite(prefix: high >> 16) }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The /48 network of an IPv6 address.
package struct ClientSite: Hashable, Sendable {
    fileprivate let prefix: UInt64
}

/// A network in CIDR notation, as `10.0.0.0/8`.
package struct AddressNetwork: Equatable, Sendable {
    private let bytes: [UInt8]
    private let prefix: Int

    /// - Parameters:
    ///   - bytes: the address, 4 or 16 bytes in network order.
    ///   - prefix: the length of the prefix in bits; nil: a single address.
    package init?(bytes: [UInt8], prefix: Int?) {
        guard bytes.count == 4 || bytes.count == 16, (0...bytes.count * 8).contains(prefix ?? 0) else { return nil }
        self.bytes = bytes
        self.prefix = prefix ?? bytes.count * 8
    }

    /// Whether the address, as bytes in network order, is in this network.
    package func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        return (0..<bytes.count).allSatisfy { index in
            let bits = min(8, max(0, prefix - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            return address[index] & mask == bytes[index] & mask
        }
    }
}
