import ClusterState
import ControlInspection
import NIOPosix
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// What an operator is told of real servers.
@Suite(.serialized) struct RedisInspectorTests {
    private static func inspector(_ url: String) throws -> RedisInspector {
        RedisInspector(
            configuration: try RedisConfiguration(url: url), eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    private static func inspect(_ url: String, for time: Duration = .zero) async throws -> RedisInspection {
        try await inspector(url).inspect(for: time)
    }

    @Test func aCluster() async throws {
        try await RedisClusterScene.run(replicas: 1, password: "secret") { scene in
            let inspection = try await Self.inspect(scene.servers.url, for: .milliseconds(200))
            #expect(inspection.findings.filter { $0.weight == .wrong } == [])
            #expect(inspection.masters.map(\.address.port) == scene.servers.servers[..<3].map(\.port))
            #expect(inspection.servers.count == 6 && inspection.silent.isEmpty)
            for (index, master) in inspection.masters.enumerated() {
                #expect(inspection.replicas(of: master).map(\.address.port) == [scene.servers.servers[3 + index].port])
                #expect(inspection.partitions(of: master).map(\.number) == Array(8 * index..<8 * (index + 1)))
            }
            #expect(
                inspection.masters.flatMap { inspection.slots(of: $0) }.reduce(0) { $0 + $1.count } == KeySlot.count)
            #expect(inspection.obstacles(channels: []).isEmpty)
        }
    }

    @Test func whatStandsAgainstMovingSlots() async throws {
        try await RedisClusterScene.run { scene in
            // A mirror that is not worked off, a large channel, an open slot, and a setting.
            let partition = scene.cluster.bus.partitions[9]
            let mirror = KeySpace.mirror(.changes(.presence), in: partition)
            for start in stride(from: 0, through: 100_000, by: 5000) {
                let results = await scene.cluster.execute(
                    (start..<start + 5000).map { _ in RedisCommand("XADD", key: mirror, "*", "a", "b") })
                for result in results { _ = try result.get() }
            }
            let channel = ChannelKey(app: try AppID("app"), name: try ChannelName("the large one"))
            for account in 0..<30 {
                let members = ChannelKeys(channel).members
                _ = try await scene.cluster.execute(RedisCommand("ZADD", key: members, .int(account), "u\(account)"))
            }
            try await scene.servers.beginMigration(ofSlot: 100, from: 0, to: 2)
            try await scene.servers.execute(
                RedisCommand("CONFIG", "SET", "cluster-allow-pubsubshard-when-down", "no"), on: 1)

            let inspector = try Self.inspector(scene.servers.url)
            let inspection = try await inspector.inspect(for: .zero)
            let masters = inspection.masters.map(\.address)
            #expect(try await inspector.channels(on: masters).isEmpty)
            let channels = try await inspector.channels(beyond: 29, on: masters)
            #expect(channels.map(\.channel) == ["the large one"] && channels.map(\.members) == [30])
            let lines = inspection.obstacles(channels: channels)
            let parts = [
                "\(mirror) has 105000 entries", "the channel the large one of app has 30 members",
                "slot 100 is being moved from \(masters[0])",
                "\(masters[2]) is receiving slot 100", "\(masters[0]) has no replica",
                "\(masters[1]) has cluster-allow-pubsubshard-when-down no",
            ]
            for part in parts { #expect(lines.contains { $0.contains(part) }, "\(part) is not in \(lines)") }
            #expect(inspection.findings.allSatisfy { $0.weight == .advice })
            try await scene.servers.endMigration(ofSlot: 100, from: 0, to: 2)
        }
    }

    @Test func aMasterThatIsAway() async throws {
        try await RedisClusterScene.run(slots: 0..<16_000) { scene in
            try await scene.servers.servers[1].kill()
            let inspection = try await Self.inspect(scene.servers.url)
            let wrong = inspection.findings.filter { $0.weight == .wrong }.map(\.text)
            #expect(wrong.contains { $0.hasPrefix("127.0.0.1:\(scene.servers.servers[1].port) does not answer") })
            #expect(wrong.contains { $0.hasPrefix("no master serves the slots 16000-16383") })
            #expect(
                inspection.partitions.contains { $0.entries == nil }
                    && inspection.partitions.contains { $0.entries != nil })
        }
    }

    @Test func aMasterWithSentinels() async throws {
        try await RedisSentinelScene.run(.init(replicas: 2, minReplicas: 1)) { scene in
            let inspection = try await Self.inspect(scene.servers.url)
            #expect(inspection.findings == [])
            let master = try #require(inspection.masters.first)
            #expect(inspection.masters.count == 1 && master.address.port == scene.servers.servers[0].port)
            #expect(inspection.replicas(of: master).count == 2)
            #expect(
                inspection.sentinels.count == 3
                    && inspection.sentinels.allSatisfy { $0.quorum == 2 && $0.replicas == 2 })
            try await scene.servers.sentinels[1].remove()
            try await scene.servers.sentinels[2].remove()
            let left = try await Self.inspect(scene.servers.url)
            #expect(left.silent.map(\.address.port).sorted() == scene.servers.sentinels[1...].map(\.port).sorted())
            try await waitUntil("the loss of the majority") {
                let findings = try await Self.inspect(scene.servers.url).findings.map(\.text)
                return findings.contains { $0.contains("could not replace the master") } ? nil : "\(findings)"
            }
        }
    }

    @Test func aSingleServer() async throws {
        let server = try await RedisServer(appendOnly: false)
        let inspection = try await Self.inspect(server.url)
        #expect(inspection.findings == [] && inspection.masters.map(\.address.port) == [server.port])
        #expect(inspection.partitions.count == 1 && inspection.partitions[0].entries?.waiting == 0)
        await #expect(throws: RedisError.self) { try await Self.inspect("redis+cluster://127.0.0.1:\(server.port)") }
        try await server.remove()
    }
}
