package import SignalingProtocol

/// The order in which a subject prefers gateways (rendezvous hashing): the same for all who know the same gateways, without any
/// record of it. If a gateway comes or goes, the order of the others stays.
///
/// Gateways of two releases that rank differently give the same channel different gateways while both run; nothing else happens.
package struct GatewayRanking: Sendable {
    private let gateways: [(id: GatewayID, hash: UInt64)]

    package init(_ ids: some Sequence<GatewayID>) {
        gateways = ids.map { ($0, Self.hash($0.rawValue)) }
    }

    /// The number of gateways.
    package var count: Int { gateways.count }

    /// The gateways that a subject prefers, the best first.
    /// - Parameter most: the largest number of them.
    package func best(_ most: Int, for subject: String) -> [GatewayID] {
        let subject = Self.hash(subject)
        var best: [(place: Int, weight: UInt64)] = []
        for place in gateways.indices {
            let weight = Self.mix(gateways[place].hash ^ subject)
            if best.count == most, let last = best.last, weight < last.weight { continue }
            best.insert((place, weight), at: best.firstIndex { $0.weight < weight } ?? best.count)
            if best.count > most { best.removeLast() }
        }
        return best.map { gateways[$0.place].id }
    }

    /// FNV-1a, 64 bits.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// Spreads all bits of a number over all bits of the result; the last step of SplitMix64.
    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
