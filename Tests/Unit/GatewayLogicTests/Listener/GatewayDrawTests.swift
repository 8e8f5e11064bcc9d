import GatewayLogic
import Testing

@Suite struct GatewayDrawTests {
    /// How often each address is drawn first in ten thousand draws.
    private func shares(_ shards: [(address: String, connections: Int)]) -> [String: Double] {
        let draw = GatewayDraw(shards)
        var generator = SystemRandomNumberGenerator()
        let count = 10_000
        var firsts: [String: Double] = [:]
        for _ in 0..<count {
            for first in draw.draw(1, using: &generator) { firsts[first, default: 0] += 1 / Double(count) }
        }
        return firsts
    }

    @Test func eachGatewayIsDrawnOnce() {
        let draw = GatewayDraw((0..<40).map { (address: "g\($0 / 2)", connections: $0) })
        var generator = SystemRandomNumberGenerator()
        let some = draw.draw(16, using: &generator)
        #expect(some.count == 16 && Set(some).count == 16)
        #expect(draw.draw(100, using: &generator).sorted() == (0..<20).map { "g\($0)" }.sorted())
        #expect(draw.draw(0, using: &generator).isEmpty)
    }

    @Test func nothingIsDrawnFromNothing() {
        let draw = GatewayDraw<String>([])
        var generator = SystemRandomNumberGenerator()
        #expect(draw.isEmpty)
        #expect(draw.draw(16, using: &generator).isEmpty)
    }

    @Test(arguments: [0, 1, 100_000]) func equalGatewaysGetEqualShares(connections: Int) {
        let drawn = shares((0..<4).map { (address: "g\($0)", connections: connections) })
        #expect(drawn.count == 4)
        #expect(drawn.values.allSatisfy { abs($0 - 0.25) < 0.05 })
    }

    /// The average shard has 1,000 connections: weights of 1/1,000 and 1/3,000.
    @Test func anEmptyGatewayIsDrawnMoreOftenThanABusyOne() throws {
        let drawn = shares([(address: "empty", connections: 0), (address: "busy", connections: 2000)])
        let empty = try #require(drawn["empty"])
        #expect(abs(empty - 0.75) < 0.05)
    }

    /// A gateway with many shards is no busier than one with few that have as many connections each.
    @Test func loadIsThatOfAShard() throws {
        let large = (0..<8).map { _ in (address: "large", connections: 1000) }
        let drawn = shares(large + [(address: "small", connections: 1000)])
        let small = try #require(drawn["small"])
        #expect(abs(small - 0.5) < 0.05)
    }
}
