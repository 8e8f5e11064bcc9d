import NIOCore
import Testing

@testable import RedisClient

@Suite struct SlotMapTests {
    private static let asked = NodeAddress(host: "10.0.0.9", port: 7000)

    private static func text(_ text: String) -> RedisValue { .bulk(ByteBuffer(string: text)) }

    private static func node(_ endpoint: RedisValue, _ port: Int64, _ further: [String] = []) -> RedisValue {
        .array([endpoint, .integer(port), text("e63916e7780c56f96955216b56f2923e55635f0a"), .array(further.map(text))])
    }

    private static func entry(_ first: Int64, _ last: Int64, _ nodes: RedisValue...) -> RedisValue {
        .array([.integer(first), .integer(last)] + nodes)
    }

    private static func map(_ entries: RedisValue...) throws -> SlotMap {
        try SlotMap(reply: .array(entries), asked: asked)
    }

    private static func address(_ host: String, _ port: Int) -> NodeAddress { NodeAddress(host: host, port: port) }

    /// Three masters of Redis 7.0.15, the first with a slot of another's range, as a migration leaves it.
    @Test func mastersAndReplicas() throws {
        let first = Self.node(Self.text("127.0.0.1"), 39_610)
        let map = try Self.map(
            Self.entry(0, 5460, first, Self.node(Self.text("127.0.0.1"), 39_615)),
            Self.entry(5461, 10_922, Self.node(Self.text("127.0.0.1"), 39_611)),
            Self.entry(10_923, 15_890, Self.node(Self.text("127.0.0.1"), 39_612)),
            Self.entry(15_891, 15_891, first, Self.node(Self.text("127.0.0.1"), 39_615)),
            Self.entry(15_892, 16_383, Self.node(Self.text("127.0.0.1"), 39_612)))
        #expect(map.masters.map(\.address.port) == [39_610, 39_611, 39_612])
        #expect(map.masters[0].replicas == [Self.address("127.0.0.1", 39_615)])
        #expect(map.owner(of: 0)?.port == 39_610)
        #expect(map.owner(of: 5460)?.port == 39_610)
        #expect(map.owner(of: 5461)?.port == 39_611)
        #expect(map.owner(of: 15_891)?.port == 39_610)
        #expect(map.owner(of: 16_383)?.port == 39_612)
        #expect(map.uncovered.isEmpty)
    }

    /// As `cluster-preferred-endpoint-type` of the asked server has it.
    @Test func endpoints() throws {
        let map = try Self.map(
            Self.entry(0, 9, Self.node(Self.text("redis-0.test"), 1, ["ip", "127.0.0.1"])),
            Self.entry(10, 19, Self.node(.null, 2, ["ip", "127.0.0.1", "hostname", "redis-1.test"])),
            Self.entry(20, 29, Self.node(Self.text(""), 3)),
            // A host name is wanted but not announced.
            Self.entry(30, 39, Self.node(Self.text("?"), 4, ["hostname", "", "ip", "::1"])),
            Self.entry(40, 49, Self.node(Self.text("?"), 5)),
            // It does not listen for this kind of connection.
            Self.entry(50, 59, Self.node(Self.text("127.0.0.1"), 0)),
            // As before Redis 4: without an id.
            Self.entry(60, 69, .array([Self.text("127.0.0.1"), .integer(6)])))
        #expect(map.owner(of: 0) == Self.address("redis-0.test", 1))
        #expect(map.owner(of: 10) == Self.address("10.0.0.9", 2))
        #expect(map.owner(of: 20) == Self.address("10.0.0.9", 3))
        #expect(map.owner(of: 30) == Self.address("::1", 4))
        #expect(map.owner(of: 40) == nil)
        #expect(map.owner(of: 50) == nil)
        #expect(map.owner(of: 60) == Self.address("127.0.0.1", 6))
        #expect(map.uncovered == [40...59, 70...16_383])
    }

    @Test func noCluster() throws {
        #expect(try Self.map().uncovered == [0...16_383])
    }

    private static let good = node(text("a"), 1)

    @Test(arguments: [
        (RedisValue.null, "not an array"),
        (.array([.integer(1)]), "no range"),
        (.array([.array([.integer(0), .integer(1)])]), "no range and master"),
        (.array([.array([text("0"), .integer(1), good])]), "not integers"),
        (.array([entry(0, 16_384, good)]), "0 to 16384"), (.array([entry(-1, 5, good)]), "-1 to 5"),
        (.array([entry(7, 6, good)]), "7 to 6"),
        (.array([entry(0, 9, good), entry(9, 10, node(text("b"), 1))]), "9 to 10 has two owners"),
        (.array([entry(0, 9, text("a"))]), "no endpoint"), (.array([entry(0, 9, node(.integer(1), 1))]), "not text"),
        (.array([entry(0, 9, node(text("a"), 65_536))]), "65536 is not a port"),
    ])
    func refused(_ reply: RedisValue, _ reason: String) {
        let error = #expect(throws: RedisError.self) { try SlotMap(reply: reply, asked: Self.asked) }
        #expect(error?.code == .shape)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func bounds() {
        let many = RedisValue.array(Array(repeating: Self.entry(0, 0, Self.good), count: 16_385))
        #expect(throws: RedisError.self) { try SlotMap(reply: many, asked: Self.asked) }
        let masters = (0...1000).map { Self.entry($0, $0, Self.node(Self.text("a"), $0 + 1)) }
        let error = #expect(throws: RedisError.self) { try SlotMap(reply: .array(masters), asked: Self.asked) }
        #expect(error?.message.contains("more than 1000 masters") == true)
        #expect(throws: Never.self) { try SlotMap(reply: .array(masters.dropLast()), asked: Self.asked) }
    }

    @Test func manyReplicas() throws {
        let nodes = (1...500).map { Self.node(Self.text("a"), $0) }
        let map = try SlotMap(
            reply: .array([.array([.integer(0), .integer(16_383)] + nodes)]), asked: Self.asked)
        #expect(map.masters[0].replicas.count == SlotMap.maxReplicas)
    }

    @Test func changes() throws {
        let (a, b, c) = (Self.good, Self.node(Self.text("b"), 1), Self.node(Self.text("c"), 1))
        let old = try Self.map(Self.entry(0, 99, a), Self.entry(100, 16_383, b))
        #expect(old.changes(since: old).isEmpty)
        // The same owners in another order.
        let turned = try Self.map(Self.entry(100, 16_383, b), Self.entry(0, 99, a))
        #expect(turned.changes(since: old).isEmpty)
        // A new master, in place of one that is gone; a slot without an owner.
        let new = try Self.map(Self.entry(0, 49, a), Self.entry(50, 16_382, c))
        #expect(
            new.changes(since: old)
                == SlotMapChanges(
                    moved: [50...16_383], new: [Self.address("c", 1)], gone: [Self.address("b", 1)]))
        #expect(old.changes(since: SlotMap()).moved == [0...16_383])
        #expect(SlotMap().changes(since: old).moved == [0...16_383])
        // One slot, as MOVED tells it: to a known master, and to a new one.
        var corrected = old
        corrected.move(3, to: Self.address("b", 1))
        corrected.move(5, to: Self.address("d", 1))
        #expect(
            corrected.changes(since: old)
                == SlotMapChanges(moved: [3...3, 5...5], new: [Self.address("d", 1)], gone: []))
    }

    @Test func single() {
        let map = SlotMap(single: Self.asked)
        #expect(map.owner(of: 16_383) == Self.asked)
        #expect(map.uncovered.isEmpty)
    }
}
