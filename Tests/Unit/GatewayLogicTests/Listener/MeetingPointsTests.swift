import ClusterState
import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct MeetingPointsTests {
    typealias Points = MeetingPoints<String>

    private let start = ContinuousClock.now

    private static func id(_ number: Int) -> GatewayID { GatewayID("gateway-\(number)") }

    private static func shard(_ number: Int, _ connections: Int = 100_000) -> (id: GatewayID, shard: Points.Shard) {
        (id(number), Points.Shard(address: "a\(number)", connections: connections))
    }

    private static func choose(_ points: inout Points, _ subject: String = "all") -> [String] {
        var generator = SystemRandomNumberGenerator()
        return points.choose(for: subject, using: &generator)
    }

    @Test func aRankingStaysWhenGatewaysComeAndGo() {
        let subjects = (0..<200).map { "subject \($0)" }
        let all = GatewayRanking((0..<20).map(Self.id))
        let fewer = GatewayRanking((0..<20).reversed().map(Self.id).filter { $0 != Self.id(7) })
        for subject in subjects {
            let order = all.best(20, for: subject)
            #expect(Set(order).count == 20)
            #expect(all.best(3, for: subject) == Array(order.prefix(3)))
            #expect(fewer.best(19, for: subject) == order.filter { $0 != Self.id(7) })
        }
        let firsts = Dictionary(grouping: subjects) { all.best(1, for: $0)[0] }
        #expect(firsts.count == 20 && firsts.values.allSatisfy { $0.count < 30 }, "no gateway is everybody's first")
        #expect(GatewayRanking([]).best(3, for: "x").isEmpty && all.best(0, for: "x").isEmpty)
    }

    @Test func theRankingIsThatOfEarlierReleases() {
        let all = GatewayRanking((0..<20).map(Self.id))
        #expect(all.best(4, for: "all") == [15, 10, 0, 7].map(Self.id))
        #expect(all.best(4, for: "app/room") == [0, 16, 2, 10].map(Self.id))
        #expect(all.best(4, for: "ünï") == [11, 3, 13, 18].map(Self.id))
    }

    @Test func allWhoAskForAChannelGetTheSameGateways() {
        var (one, two) = (Points(), Points())
        one.sample((0..<20).map { Self.shard($0) }, isComplete: true, at: start)
        two.sample((0..<20).reversed().map { Self.shard($0) }, isComplete: true, at: start)
        let chosen = Set(Self.choose(&one))
        #expect(chosen.count == Points.gateways)
        #expect(Set(Self.choose(&two)) == chosen)
        let others = Set((0..<20).flatMap { Self.choose(&two, "other \($0)") })
        #expect(others.count > 10, "other channels gather elsewhere")
        // Each of the two comes first for some.
        #expect(Set((0..<20).compactMap { _ in Self.choose(&one).first }) == chosen)
    }

    @Test func aGatewayOfSeveralShardsIsNamedOnce() {
        var points = Points()
        points.sample(
            (0..<20).map { (Self.id($0), Points.Shard(address: "a\($0 / 10)", connections: 0)) }, isComplete: true,
            at: start)
        #expect(Self.choose(&points).sorted() == ["a0", "a1"])
    }

    /// 20 shards with 1,000 connections have the limit 1,314.
    @Test func aBusyGatewayIsLeftOut() {
        var points = Points()
        points.sample((0..<20).map { Self.shard($0, 1000) }, isComplete: true, at: start)
        let best = Set(Self.choose(&points))
        var shards = (0..<20).map { Self.shard($0, 1000) }
        for index in shards.indices where best.contains(shards[index].shard.address) {
            shards[index].shard.connections = 1400
        }
        points.sample(shards, isComplete: true, at: start)
        let next = Set(Self.choose(&points))
        #expect(next.count == Points.gateways && next.isDisjoint(with: best))
        // When all are far above what is allowed, nobody is preferred.
        var none = Points()
        none.sample([Self.shard(0, 500)], isComplete: true, at: start)
        #expect(Self.choose(&none) == ["a0"], "the average is no more than itself")
    }

    /// Two processes share what a shard may still get until its load is read again.
    @Test func whoIsLedThereCounts() {
        var points = Points()
        points.sample([Self.shard(0, 0), Self.shard(1, 0)], isComplete: true, at: start)
        let named = (0..<100).compactMap { _ in Self.choose(&points).first }
        #expect(named.count == 64)
        #expect(Self.choose(&points).isEmpty)
        points.sample([Self.shard(0, 32), Self.shard(1, 32)], isComplete: true, at: start)
        #expect(!Self.choose(&points).isEmpty)
    }

    @Test func aBound() {
        // 64 above nothing, and 2,564 above an average of 2,000.
        #expect(GatheringBound(connections: []).limit == 64)
        let bound = GatheringBound(connections: [1000, 3000])
        #expect(bound.limit == 2564)
        #expect(bound.admits(connections: 2464, named: 9.9, processes: 10))
        #expect(!bound.admits(connections: 2464, named: 10, processes: 10))
        #expect(
            bound.admits(connections: 2563, named: 0, processes: 1000)
                && !bound.admits(connections: 2564, named: 0, processes: 1))
    }

    @Test func ofManyOnlyTheCandidatesAreRead() {
        var points = Points()
        points.sample((0..<64).map { Self.shard($0) }, isComplete: false, at: start)
        #expect(points.mustList(at: start) && !points.mustList(at: start), "it is being read")
        #expect(Self.choose(&points).isEmpty, "nothing is known yet")
        points.list((0..<1000).map(Self.id))
        let wanted = points.unread(for: "all", at: start)
        #expect(wanted == GatewayRanking((0..<1000).map(Self.id)).best(Points.candidates, for: "all"))
        // The first has ended, the second drains: neither has a lease that counts.
        let living = wanted.dropFirst(2).map { ($0, Points.Shard(address: $0.rawValue, connections: 0)) }
        points.read(wanted, Dictionary(uniqueKeysWithValues: living), at: start)
        #expect(Set(Self.choose(&points)) == Set(wanted[2..<4].map(\.rawValue)))
        #expect(points.unread(for: "all", at: start + .seconds(1)).isEmpty)
        #expect(points.unread(for: "all", at: start + .seconds(2)) == wanted)
        #expect(points.unread(for: "all", at: start + .seconds(2)).isEmpty, "they are being read")
        #expect(!points.mustList(at: start + .seconds(9)) && points.mustList(at: start + .seconds(10)))
        points.list((0..<1000).map(Self.id))
        #expect(Set(Self.choose(&points)) == Set(wanted[2..<4].map(\.rawValue)))
        // The cluster shrinks: the sample is all.
        points.sample([Self.shard(5)], isComplete: true, at: start)
        #expect(Self.choose(&points) == ["a5"] && !points.mustList(at: start + .seconds(60)))
    }
}
