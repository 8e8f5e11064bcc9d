import ClusterBus
import ClusterState
import NIOPosix
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Processes that start while the master with the cluster's records is away.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ClusterProbationTests {
    /// The master of the records, of three that share all slots.
    private static let master = Int(KeySlot.of(KeySpace.control)) * 3 / KeySlot.count

    /// A process in a cluster of its own.
    private struct Process {
        let instance: ClusterInstance
        let redis: RedisClient
        var failover: RedisFailover { RedisFailover(redis) }

        init(_ scene: RedisClusterScene, layout: RedisLayout? = nil, level: Int64 = 2) throws {
            var configuration = try RedisConfiguration(url: scene.servers.url)
            configuration.commandTimeout = .seconds(1)
            var terms = ClusterInstance.Terms()
            (terms.layout, terms.level, terms.pause, terms.settling) = (layout, level, .milliseconds(100), .zero)
            instance = ClusterInstance(
                kind: "probe", name: "one", redis: configuration, terms: terms, logger: RedisScene.logger)
            redis = RedisClient(
                configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                libraries: [.instances], logger: RedisScene.logger)
        }

        /// Does what a process does before it serves.
        func begin() async throws {
            try await instance.check(on: redis.eventLoop)
            redis.start()
            try await instance.join(on: failover)
        }
    }

    @Test func itServesOnProbationAndJoinsWhenTheMasterIsBack() async throws {
        try await RedisClusterScene.run { scene in
            try await scene.servers.servers[Self.master].kill()
            let process = try Process(scene)
            try await process.begin()
            #expect(process.instance.isOnProbation && !process.instance.hasJoined && process.instance.remark != nil)
            #expect(process.instance.clusterLevel == 1 && process.instance.runningLevel == 1, "the lowest")

            let staying = Task { try await process.instance.stay(on: process.failover) }
            try await letPass(.seconds(3), "a step fails while it is on probation")
            #expect(process.instance.isOnProbation)
            try await scene.servers.servers[Self.master].start()
            try await waitUntil("joined", within: .seconds(30)) { process.instance.hasJoined ? nil : "not joined" }
            #expect(!process.instance.isOnProbation && process.instance.remark == nil)
            #expect(process.instance.clusterLevel == 2)
            #expect(try await RunningInstances.list(process.redis).map(\.id) == [process.instance.id])
            #expect(try await RunningInstances.layoutProblem(process.redis) == nil)
            staying.cancel()
            try await staying.value
            await process.redis.close()
        }
    }

    @Test func itEndsWhenTheMasterIsBackWithAnotherLayout() async throws {
        try await RedisClusterScene.run { scene in
            let first = try Process(scene)
            try await first.begin()
            try await scene.servers.servers[Self.master].kill()
            let other = RedisLayout(flavour: .cluster, buckets: 4096, partitions: 48, keys: 2)
            let process = try Process(scene, layout: other)
            try await process.begin()
            #expect(process.instance.isOnProbation)
            let staying = Task { try await process.instance.stay(on: process.failover) }
            try await scene.servers.servers[Self.master].start()
            let found = first.redis.bus.redis.description
            await #expect(throws: ClusterRefusal.layout(found: found, needed: other)) { try await staying.value }
            #expect(!process.instance.hasJoined)
            await process.redis.close()
            await first.redis.close()
        }
    }

    @Test func itEndsWhenTheLevelsAreTooFarApart() async throws {
        try await RedisClusterScene.run { scene in
            let old = try Process(scene, level: 1)
            try await old.begin()
            let keeping = Task { try await old.instance.stay(on: old.failover) }
            try await scene.servers.servers[Self.master].kill()
            let process = try Process(scene, level: 3)
            try await process.begin()
            #expect(process.instance.isOnProbation)
            let staying = Task { try await process.instance.stay(on: process.failover) }
            try await scene.servers.servers[Self.master].start()
            await #expect(throws: ClusterRefusal.level(own: 3, running: 1)) { try await staying.value }
            keeping.cancel()
            try await keeping.value
            await process.redis.close()
            await old.redis.close()
        }
    }

    /// Without most of the masters nothing is known of the cluster.
    @Test func itWaitsWhenMostMastersAreAway() async throws {
        try await RedisClusterScene.run { scene in
            for server in [1, Self.master] { try await scene.servers.servers[server].kill() }
            let process = try Process(scene)
            let starting = Task { try await process.begin() }
            try await letPass(.seconds(4), "steps fail while it waits")
            #expect(!process.instance.isOnProbation && !process.instance.hasJoined)
            starting.cancel()
            await #expect(throws: CancellationError.self) { try await starting.value }
            await process.redis.close()
        }
    }
}
