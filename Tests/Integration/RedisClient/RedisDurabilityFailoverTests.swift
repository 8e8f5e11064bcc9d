import Glibc
import NIOCore
import RedisClient
import TestKit
import Testing

/// What is acknowledged survives the loss of a master.
@Suite(.serialized) struct RedisDurabilityFailoverTests {
    /// How many masters are killed: `HELIOGRAPH_TEST_KILLS`, default 3.
    private static let kills = getenv("HELIOGRAPH_TEST_KILLS").flatMap { Int(String(cString: $0)) } ?? 3

    /// A master is killed under load, with its replica 100 ms behind.
    /// - Returns: the numbers that were acknowledged, and how many of them the replica does not have.
    private static func kill(isDurable: Bool) async throws -> (acknowledged: Int, lost: Int) {
        var counts = (acknowledged: 0, lost: 0)
        try await RedisReplicaScene.run(lag: .milliseconds(100)) { scene in
            let sender = NumberSender(
                scene.client, tag: RedisReplicaScene.tag, isFunction: true, isDurable: isDurable)
            sender.start()
            try await waitUntil("load") { sender.acknowledged > 100 ? nil : "\(sender.acknowledged)" }
            try await letPass(.milliseconds(.random(in: 0...150)), "the kill comes at any time of a round of questions")
            try await scene.master.kill()
            let outcomes = try await sender.finish()
            _ = try await scene.observers[1].execute(RedisCommand("REPLICAOF", "NO", "ONE"))
            let acknowledged = Set(outcomes.filter { $0.error == nil }.map(\.number))
            counts = (acknowledged.count, acknowledged.subtracting(try await scene.numbers(in: 1)).count)
        }
        return counts
    }

    @Test func nothingAcknowledgedIsLost() async throws {
        var all = (acknowledged: 0, lost: 0)
        for _ in 0..<Self.kills {
            let (acknowledged, lost) = try await Self.kill(isDurable: true)
            #expect(acknowledged > 100 && lost == 0)
            all = (all.acknowledged + acknowledged, all.lost + lost)
        }
        let (_, lost) = try await Self.kill(isDurable: false)
        #expect(lost > 0, "otherwise the test would show nothing")
        // For the report of Tests/ClusterReport.
        let told = "\(Self.kills) kills, \(all.acknowledged) acknowledged, \(all.lost) lost; \(lost) lost without"
        print("durability: \(told)")
    }

    /// Each master of a cluster waits for its own replicas.
    @Test func eachMasterOfAClusterWaits() async throws {
        try await RedisClusterScene.run(replicas: 1, configure: RedisClusterScene.durable) { scene in
            let tags = (0..<2).map { RedisClusterScene.tag(ofMaster: $0) }
            func push(_ number: Int, _ tag: String) async -> RedisError.Code? {
                do throws(RedisError) {
                    _ = try await scene.cluster.execute(.function("push", tag: tag, .int(number)).durable)
                    return nil
                } catch {
                    return error.code
                }
            }
            for tag in tags { #expect(await push(0, tag) == nil) }
            await scene.servers.servers[3].freeze(true)
            #expect(await push(1, tags[0]) == .unreplicated)
            #expect(await push(1, tags[1]) == nil)
            await scene.servers.servers[3].freeze(false)
            try await waitUntil("the replica") { await push(1, tags[0]).map { "\($0)" } }
            #expect(try await scene.list(tags[0]) == [0, 1])
        }
    }

    /// After a failover it is the replicas of the new master that are waited for.
    @Test func afterAFailoverOfACluster() async throws {
        try await RedisClusterScene.run(replicas: 1, configure: RedisClusterScene.durable) { scene in
            let tag = RedisClusterScene.tag(ofMaster: 0)
            let sender = NumberSender(
                scene.cluster, tag: tag, isFunction: true, isDurable: true, repetition: .seconds(8))
            sender.start()
            try await waitUntil("load") { sender.acknowledged > 100 ? nil : "\(sender.acknowledged)" }
            try await scene.servers.servers[0].kill()
            let slot = Int(RedisClusterScene.slot(of: tag))
            try await waitUntil("a failover", within: .seconds(30)) {
                try await scene.servers.owner(ofSlot: slot, seenBy: 1) == 3 ? nil : "not yet"
            }
            // The new master has no replica until the old one is back.
            let before = sender.acknowledged
            try await scene.servers.servers[0].start()
            try await waitUntil("load at the new master", within: .seconds(30)) {
                sender.acknowledged > before + 100 ? nil : "\(sender.acknowledged)"
            }
            let outcomes = try await sender.finish()
            let list = try await scene.list(tag)
            let acknowledged = Set(outcomes.filter { $0.error == nil }.map(\.number))
            #expect(acknowledged.subtracting(list).isEmpty)
            #expect(list.count == Set(list).count)
            let errors = Set(outcomes.compactMap { $0.error?.code })
            #expect(errors.isSubset(of: [.unreplicated, .timeout]), "\(errors)")
        }
    }

    @Test func withSentinels() async throws {
        try await RedisSentinelScene.run(configure: RedisClusterScene.durable) { scene in
            scene.client.start()
            let push = RedisCommand.function("push", tag: "{a}", 7).durable
            _ = try await scene.client.execute(push)
            #expect(try await scene.list("{a}", on: 1) == [7])
            await scene.servers.servers[1].freeze(true)
            do throws(RedisError) {
                _ = try await scene.client.execute(push)
                Issue.record("acknowledged")
            } catch {
                #expect(error.code == .unreplicated)
            }
            await scene.servers.servers[1].freeze(false)
        }
    }
}
