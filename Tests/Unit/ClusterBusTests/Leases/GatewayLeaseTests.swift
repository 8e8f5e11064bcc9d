import BusProtocol
import ClusterBus
import ClusterState
import Pacing
import RedisClient
import SignalingProtocol
import Testing

/// What a gateway tells by its lease, and when a lease is alive.
@Suite struct GatewayLeaseTests {
    private let lease = GatewayLease(host: "10.0.0.1", port: 8000, connections: 17)
    private let golden = "4:host8:10.0.0.14:port4:800011:connections2:17"

    private func read(_ text: String) throws -> GatewayLease {
        try GatewayLease(from: FieldReader(encoded: Array(text.utf8)))
    }

    @Test func `its bytes`() throws {
        var writer = FieldWriter()
        lease.write(to: &writer)
        #expect(String(decoding: writer.encoded, as: UTF8.self) == golden)
        #expect(try read(golden) == lease)
    }

    @Test func `before-hooks whose servers are left alone are fields of their own`() throws {
        let apps = [try AppID("b/c"), try AppID("a")]
        let failing = GatewayLease(host: "10.0.0.1", port: 8000, connections: 17, openHooks: apps)
        var writer = FieldWriter()
        failing.write(to: &writer)
        let bytes = golden + "8:openHook1:a8:openHook3:b/c"
        #expect(String(decoding: writer.encoded, as: UTF8.self) == bytes)
        #expect(try read(bytes) == failing)
    }

    @Test func `of many before-hooks the first by id are told`() throws {
        let apps = try (10..<30).map { try AppID("app\($0)") }
        let lease = GatewayLease(host: "h", port: 1, connections: 0, openHooks: apps.reversed())
        #expect(lease.openHooks == Array(apps.prefix(16)))
    }

    @Test func `fields of a later release are ignored, wherever they stand`() throws {
        #expect(try read("4:zone1:a" + golden + "4:load2:99") == lease)
        // What the lease itself says in addition.
        #expect(try read("9:heartbeat13:17953812732788:draining1:0" + golden) == lease)
    }

    @Test func `a lease is alive while its key has more to live than it is kept after the end`() {
        let kept = GatewayID.fleet.keptAfterEnd.wholeMilliseconds
        #expect(GatewayLeases.remaining(.integer(kept + 10_000)) == .seconds(10))
        #expect(GatewayLeases.remaining(.integer(kept + 1)) == .milliseconds(1))
        #expect(GatewayLeases.remaining(.integer(kept)) == nil)
        // The key does not exist.
        #expect(GatewayLeases.remaining(.integer(-2)) == nil)
    }

    @Test func `a gateway's connections are those of its shards`() {
        func lease(_ connections: Int) -> GatewayLease { GatewayLease(host: "h", port: 1, connections: connections) }
        let leases = [
            GatewayID(run: "g1-0a", shard: 0): lease(3), GatewayID(run: "g1-0a", shard: 11): lease(4),
            GatewayID(run: "g1-0b", shard: 0): lease(5), GatewayID("odd"): lease(9),
        ]
        #expect(GatewayID.connections(by: leases) == ["g1-0a": 7, "g1-0b": 5])
    }

    @Test func `a gateway leaves alone what any of its shards does`() throws {
        let (a, b) = (try AppID("a"), try AppID("b"))
        func lease(_ apps: AppID...) -> GatewayLease {
            GatewayLease(host: "h", port: 1, connections: 0, openHooks: apps)
        }
        let leases = [
            GatewayID(run: "g1-0a", shard: 0): lease(b), GatewayID(run: "g1-0a", shard: 11): lease(a, b),
            GatewayID(run: "g1-0b", shard: 0): lease(), GatewayID("odd"): lease(a),
        ]
        #expect(GatewayID.openHooks(by: leases) == ["g1-0a": [a, b], "g1-0b": []])
    }

    @Test(
        arguments: [
            "", "{}", #"{"host":"10.0.0.1","port":8000,"connections":17}"#,
            "4:host8:10.0.0.14:port4:8000", "4:host8:10.0.0.14:port4:80x011:connections2:17",
            "4:host8:10.0.0.14:port4:800011:connections2:1",
        ])
    func `other text is no lease`(_ text: String) {
        #expect(throws: SignalingError.self) { try read(text) }
    }
}
