internal import SignalingProtocol

/// The order in which a subject prefers the processes of a service (rendezvous hashing): the same for all who know the
/// same processes, without any record of it. If one comes or goes, the order of the others stays.
///
/// Processes of two releases that rank differently give one subject different places while both run.
package struct RendezvousRanking<ID: Sendable>: Sendable {
    private let places: [(id: ID, hash: UInt64)]

    /// - Parameter name: the text of an id, of which the order is made.
    package init(_ ids: some Sequence<ID>, name: (ID) -> String) {
        places = ids.map { ($0, FNV1a.hash(name($0).utf8)) }
    }

    /// The number of ids.
    package var count: Int { places.count }

    /// The ids that a subject prefers, the best first.
    /// - Parameter most: the largest number of them.
    package func best(_ most: Int, for subject: String) -> [ID] {
        let subject = FNV1a.hash(subject.utf8)
        var best: [(place: Int, weight: UInt64)] = []
        for place in places.indices {
            let weight = Self.mix(places[place].hash ^ subject)
            if best.count == most, let last = best.last, weight < last.weight { continue }
            best.insert((place, weight), at: best.firstIndex { $0.weight < weight } ?? best.count)
            if best.count > most { best.removeLast() }
        }
        return best.map { places[$0.place].id }
    }

    /// Spreads all bits of a number over all bits of the result; the last step of SplitMix64.
    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
