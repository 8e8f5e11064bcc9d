/// Draws the gateways that discovery names to a client, so that clients spread over them and the busy ones get fewer.
package struct GatewayDraw<Address: Hashable & Sendable>: Sendable {
    private struct Candidate {
        let address: Address
        /// How likely it is drawn, compared with others.
        let weight: Double
    }

    private let candidates: [Candidate]

    /// Considers gateways. One without connections is twice as likely to be drawn as one that has as
    /// many as the average shard; a steeper preference would send all clients to the same few gateways
    /// until their new load is known.
    /// - Parameter shards: shards' public addresses, which those of one gateway share, and their connections.
    package init(_ shards: [(address: Address, connections: Int)]) {
        var loads: [Address: (connections: Int, shards: Int)] = [:]
        var addresses: [Address] = []
        for shard in shards {
            if loads[shard.address] == nil { addresses.append(shard.address) }
            let load = loads[shard.address, default: (0, 0)]
            loads[shard.address] = (load.connections + shard.connections, load.shards + 1)
        }
        let average = Self.average(shards.reduce(0) { $0 + $1.connections }, shards.count)
        candidates = addresses.map { address in
            let load = loads[address, default: (0, 0)]
            // One more, because there may be no connections at all.
            let weight = 1 / (1 + average + Self.average(load.connections, load.shards))
            return Candidate(address: address, weight: weight)
        }
    }

    /// Whether there is nothing to draw from.
    package var isEmpty: Bool { candidates.isEmpty }

    /// Draws gateways, each once at most.
    /// - Parameter most: the largest number of them.
    package func draw(_ most: Int, using generator: inout some RandomNumberGenerator) -> [Address] {
        var rest = candidates
        var drawn: [Address] = []
        while drawn.count < most, !rest.isEmpty {
            var point = Double.random(in: 0..<rest.reduce(0) { $0 + $1.weight }, using: &generator)
            let index = rest.firstIndex { candidate in
                point -= candidate.weight
                return point < 0
            }
            // Rounding may leave a remainder behind the last one.
            drawn.append(rest.remove(at: index ?? rest.count - 1).address)
        }
        return drawn
    }

    private static func average(_ sum: Int, _ count: Int) -> Double { Double(sum) / Double(max(count, 1)) }
}
