package import BusProtocol
internal import SignalingProtocol

/// Which addresses a webhook may lead to.
package enum AddressRule {
    /// Whether requests may go to an address: one of the public Internet, or of a network that is allowed. An IPv6
    /// address that stands for one of IPv4 is judged by that.
    /// - Parameter bytes: 4 of IPv4 or 16 of IPv6; others are not usable.
    package static func isUsable(_ bytes: [UInt8], _ allowed: AllowedNetworks) -> Bool {
        if isPublic(bytes) { return true }
        let bytes = embedded(in: bytes) ?? bytes
        func isWithin(_ ranges: [Range]) -> Bool {
            ranges.contains { $0.width == bytes.count && $0.contains(bytes) }
        }
        return allowed.contains(.privateOnes) && isWithin(privateOnes)
            || allowed.contains(.loopback) && isWithin(loopback)
    }

    /// Whether an address belongs to the public Internet: not to this machine, a private or local network, or a range
    /// with a special meaning (IANA's special-purpose registries, and what clouds use). An IPv6 address that stands for
    /// one of IPv4 is judged by that.
    /// - Parameter bytes: 4 of IPv4 or 16 of IPv6; others are not public.
    package static func isPublic(_ bytes: [UInt8]) -> Bool {
        if let embedded = embedded(in: bytes) { return isPublic(embedded) }
        return switch bytes.count {
        case 4: !special4.contains { $0.contains(bytes) }
        // Only 2000::/3 is assigned to the Internet.
        case 16: global6.contains(bytes) && !special6.contains { $0.contains(bytes) }
        default: false
        }
    }

    /// The IPv4 address that an IPv6 address stands for.
    private static func embedded(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 16 else { return nil }
        guard let embedding = embeddings.first(where: { $0.range.contains(bytes) }) else { return nil }
        return Array(bytes[embedding.offset..<embedding.offset + 4])
    }

    private struct Range {
        let prefix: [UInt8]
        let bits: Int
        /// The bytes of the range's addresses.
        let width: Int

        init(_ prefix: [UInt8], _ bits: Int, width: Int = 4) {
            self.prefix = prefix
            self.bits = bits
            self.width = width
        }

        func contains(_ bytes: [UInt8]) -> Bool {
            for bit in 0..<bits {
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
                if bytes[bit / 8] & mask != wanted & mask { return false }
            }
            return true
        }
    }

    private static let special4 = [
        Range([0], 8), Range([10], 8), Range([100, 64], 10), Range([127], 8), Range([169, 254], 16),
        Range([172, 16], 12),
        Range([192, 0, 0], 24), Range([192, 0, 2], 24), Range([192, 88, 99], 24), Range([192, 168], 16),
        Range([198, 18], 15), Range([198, 51, 100], 24), Range([203, 0, 113], 24), Range([224], 4), Range([240], 4),
        // Azure's own server for its virtual machines, which gives out their configuration and certificates.
        Range([168, 63, 129, 16], 32),
    ]

    private static let privateOnes = [
        Range([10], 8), Range([100, 64], 10), Range([172, 16], 12), Range([192, 168], 16), Range([0xFC], 7, width: 16),
    ]

    private static let loopback = [
        Range([127], 8), Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, width: 16),
    ]

    /// IPv6 ranges whose addresses contain one of IPv4: mapped, translated (NAT64) and 6to4.
    private static let embeddings: [(range: Range, offset: Int)] = [
        (Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12),
        (Range([0, 0x64, 0xFF, 0x9B], 96), 12),
        (Range([0x20, 0x02], 16), 2),
    ]

    private static let global6 = Range([0x20], 3)

    /// Within 2000::/3: protocols (with Teredo), documentation.
    private static let special6 = [
        Range([0x20, 0x01, 0], 23), Range([0x20, 0x01, 0x0D, 0xB8], 32), Range([0x3F, 0xFF, 0], 20),
    ]
}
