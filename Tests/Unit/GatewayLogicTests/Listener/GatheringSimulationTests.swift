import GatewayLogic
import SignalingProtocol
import Testing

/// What gathering is worth, and what it costs: the numbers of Docs/decisions/0020-gathering.md.
@Suite struct GatheringSimulationTests {
    typealias Points = MeetingPoints<Int>

    /// On how many shards 50 members are on average, of `processes` gateways with `shards` shards each.
    private static func shardsOfAChannel(processes: Int, shards: Int, isGathering: Bool) -> Double {
        var generator = SystemRandomNumberGenerator()
        var points = Points()
        let all = (0..<processes * shards).map { number in
            (id: GatewayID("g\(number)"), shard: Points.Shard(address: number / shards, connections: 1_000_000))
        }
        let draw = GatewayDraw(all.map { (address: $0.shard.address, connections: 1_000_000) })
        let rounds = 40
        var sum = 0
        for round in 0..<rounds {
            // Another channel each time; and the time in which its members come is long.
            points.sample(all, isComplete: true, at: .now)
            var heard: Set<Int> = []
            for _ in 0..<50 {
                let gathered = isGathering ? points.choose(for: "channel \(round)", using: &generator) : []
                let address = gathered.first ?? draw.draw(1, using: &generator)[0]
                // The kernel gives the connection to any shard of the process.
                heard.insert(address * shards + Int.random(in: 0..<shards, using: &generator))
            }
            sum += heard.count
        }
        return Double(sum) / Double(rounds)
    }

    @Test(arguments: [
        // processes, shards of each, shards that hear a channel of 50 without and with `channel=`
        (120, 1, 41.0, 2.0), (1200, 1, 49.0, 2.0), (12, 10, 41.0, 18.5), (30, 4, 41.0, 8.0), (300, 4, 49.0, 8.0),
    ]) func shardsThatHearAChannelOf50(processes: Int, shards: Int, spread: Double, gathered: Double) {
        #expect(abs(Self.shardsOfAChannel(processes: processes, shards: shards, isGathering: false) - spread) < 1.5)
        #expect(abs(Self.shardsOfAChannel(processes: processes, shards: shards, isGathering: true) - gathered) < 1)
    }

    /// All of a channel of 6,000 come within 20 s to 120 gateways with 100 clients each, in steps in which nobody knows
    /// the new load: no gateway gets more than a quarter above the average and 64.
    @Test func aLargeChannelOverrunsNobody() {
        let count = 120
        var generator = SystemRandomNumberGenerator()
        var connections = [Int](repeating: 100, count: count)
        var processes = [Points](repeating: Points(), count: count)
        var limit = 0
        for _ in 0..<10 {
            let shards = connections.enumerated().map { number, connections in
                (id: GatewayID("g\(number)"), shard: Points.Shard(address: number, connections: connections))
            }
            limit = GatheringBound(connections: connections).limit
            let draw = GatewayDraw(connections.enumerated().map { (address: $0.offset, connections: $0.element) })
            for place in processes.indices { processes[place].sample(shards, isComplete: true, at: .now) }
            for _ in 0..<600 {
                let gathered = processes[Int.random(in: 0..<count)].choose(for: "large", using: &generator)
                connections[gathered.first ?? draw.draw(1, using: &generator)[0]] += 1
            }
        }
        let average = connections.reduce(0, +) / count
        #expect(average == 150)
        let busiest = connections.max() ?? 0
        #expect(busiest <= limit + 30, "\(busiest)")
        #expect(busiest > average + 40, "they do gather")
    }
}
