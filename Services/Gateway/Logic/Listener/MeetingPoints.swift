package import ClusterState
package import SignalingProtocol

/// Picks the gateways that clients of one channel or app are sent to by discovery, so that they meet on few gateways:
/// those that ``GatewayRanking`` puts first, as long as they live and are not much busier than others. No I/O and no
/// clock. See Docs/decisions/0020-gathering.md.
package struct MeetingPoints<Address: Hashable & Sendable>: Sendable {
    /// What is known of a shard.
    package struct Shard: Sendable {
        package var address: Address
        package var connections: Int

        package init(address: Address, connections: Int) {
            self.address = address
            self.connections = connections
        }
    }

    private struct Known {
        /// Nil for a shard that has ended or drains.
        var shard: Shard?
        /// How many clients this process has sent to the shard since it last read it.
        var named = 0
        /// Random, so that the fractions of many processes add up. Each process may send a shard its share of the
        /// remaining clients, which is often less than one.
        let roundingOffset = Double.random(in: 0..<1)
        var freshUntil: ContinuousClock.Instant
    }

    /// The number of gateways of a channel: two, so that one may end, or be busy, without all having to go elsewhere.
    package static var gateways: Int { 2 }
    /// How many gateways of the ranking come into question, from the first. When all of them are gone or busy,
    /// discovery answers with any gateways.
    package static var candidates: Int { 8 }
    /// How long this process uses what it has read about a shard before it reads it again.
    package static var freshness: Duration { .seconds(2) }
    /// How long this process uses the list of all gateways before it reads it again.
    package static var listFreshness: Duration { .seconds(10) }

    private var ranking = GatewayRanking([])
    private var known: [GatewayID: Known] = [:]
    private var bound = GatheringBound(connections: [])
    /// The addresses in the sample, and its shards: how many shards a process has.
    private var sampled = (addresses: 1, shards: 1)
    private var listFreshUntil: ContinuousClock.Instant?
    /// Whether the sample is all gateways.
    private var isComplete = false

    package init() {}

    /// Takes a sample of the living gateways.
    /// - Parameter isComplete: whether there are no others.
    package mutating func sample(
        _ shards: [(id: GatewayID, shard: Shard)], isComplete: Bool, at now: ContinuousClock.Instant
    ) {
        bound = GatheringBound(connections: shards.map(\.shard.connections))
        sampled = (Set(shards.map(\.shard.address)).count, max(shards.count, 1))
        self.isComplete = isComplete
        guard isComplete else { return }
        ranking = GatewayRanking(shards.map(\.id))
        known = Dictionary(shards.map { ($0.id, Known(shard: $0.shard, freshUntil: now)) }) { first, _ in first }
        listFreshUntil = nil
    }

    /// Whether the caller must read the list of all gateways now. After the answer `true`, the list counts as read.
    package mutating func mustList(at now: ContinuousClock.Instant, jitter: Double = 1) -> Bool {
        if isComplete { return false }
        if let listFreshUntil, now < listFreshUntil { return false }
        listFreshUntil = now + Self.listFreshness * jitter
        return true
    }

    /// Takes the list of all gateways, some of which may have ended.
    package mutating func list(_ ids: [GatewayID]) {
        guard !isComplete else { return }
        ranking = GatewayRanking(ids)
        let listed = Set(ids)
        known = known.filter { listed.contains($0.key) }
    }

    /// The shards that must be read, or read again, before gateways are chosen for a subject. Until that is done, the
    /// old values are used.
    package mutating func unread(for subject: String, at now: ContinuousClock.Instant) -> [GatewayID] {
        if isComplete { return [] }
        return ranking.best(Self.candidates, for: subject).filter { id in
            guard let freshUntil = known[id]?.freshUntil else { return true }
            guard now >= freshUntil else { return false }
            known[id]?.freshUntil = now + Self.freshness
            return true
        }
    }

    /// Takes what was read of shards.
    /// - Parameter found: those that live and do not drain.
    package mutating func read(_ ids: [GatewayID], _ found: [GatewayID: Shard], at now: ContinuousClock.Instant) {
        for id in ids { known[id] = Known(shard: found[id], freshUntil: now + Self.freshness) }
    }

    /// The gateways of a subject in the order in which a client is to try them: ``gateways`` at most, and none when all
    /// that come into question are gone or busy.
    package mutating func choose(for subject: String, using generator: inout some RandomNumberGenerator) -> [Address] {
        var chosen: [(id: GatewayID, address: Address)] = []
        for id in ranking.best(Self.candidates, for: subject) where chosen.count < Self.gateways {
            guard let point = known[id], let shard = point.shard,
                !chosen.contains(where: { $0.address == shard.address }),
                bound.admits(
                    connections: shard.connections, named: Double(point.named) + point.roundingOffset,
                    processes: processes)
            else { continue }
            chosen.append((id, shard.address))
        }
        chosen.shuffle(using: &generator)
        if let first = chosen.first { known[first.id]?.named += 1 }
        return chosen.map(\.address)
    }

    /// About how many processes answer discovery.
    private var processes: Int { max(1, ranking.count * sampled.addresses / sampled.shards) }
}

/// The number of connections up to which a shard gets clients of one channel or app. Beyond it, the next shard in the
/// ranking gets them.
package struct GatheringBound: Sendable {
    /// How much busier than the average shard a gathering may make one, and by how many connections in any case.
    private static let (factor, slack) = (1.25, 64.0)

    /// The connections at which a shard gets no more.
    package let limit: Int

    /// - Parameter connections: those of the shards of a sample.
    package init(connections: [Int]) {
        let average = Double(connections.reduce(0, +)) / Double(max(connections.count, 1))
        limit = Int(average * Self.factor + Self.slack)
    }

    /// Whether a shard gets one more client.
    /// - Parameters:
    ///   - connections: as it has told.
    ///   - named: how many this process has led there since, plus a part of one that differs from process to process.
    ///   - processes: how many do so at the same time: each has an equal part of what is left.
    package func admits(connections: Int, named: Double, processes: Int) -> Bool {
        named < Double(limit - connections) / Double(processes)
    }
}

/// The order in which a channel or an app prefers gateways.
package typealias GatewayRanking = RendezvousRanking<GatewayID>

extension GatewayRanking {
    package init(_ ids: some Sequence<GatewayID>) { self.init(ids, name: \.rawValue) }
}
