package import BusProtocol

/// The networks that are banned, by which a client's address is found with a look-up for each length of prefix.
package struct BannedAddresses: Sendable {
    /// The networks of one length of prefix.
    private struct Networks {
        let prefix: Int
        var addresses: Set<[UInt8]>
    }

    private let v4: [Networks]
    private let v6: [Networks]
    /// How many networks are banned.
    package let count: Int

    package init(_ networks: [ClientNetwork] = []) {
        func group(ofBytes count: Int) -> [Networks] {
            let ofPrefixes = Dictionary(grouping: networks.filter { $0.bytes.count == count }, by: \.prefix)
            return ofPrefixes.map { Networks(prefix: $0, addresses: Set($1.map(\.bytes))) }
        }
        v4 = group(ofBytes: 4)
        v6 = group(ofBytes: 16)
        count = networks.count
    }

    /// Whether a client of this address, in network order, may not connect. An IPv4-mapped IPv6 address counts as IPv4.
    package func contains(_ address: [UInt8]) -> Bool {
        guard count > 0 else { return false }
        let isMapped =
            address.count == 16 && address.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255])
        let bytes = isMapped ? Array(address.suffix(4)) : address
        return (bytes.count == 4 ? v4 : v6).contains { networks in
            networks.addresses.contains(ClientNetwork.masked(bytes, to: networks.prefix))
        }
    }
}
