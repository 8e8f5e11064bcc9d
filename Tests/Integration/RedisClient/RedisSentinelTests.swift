import NIOCore
import RedisClient
import TestKit
import Testing

/// A real Redis with Sentinel as it is used, and how it is refused.
@Suite(.serialized) struct RedisSentinelTests {
    @Test func commandsAndTopics() async throws {
        try await RedisSentinelScene.run(access: .init(password: "secret", ownPassword: "other", tls: true)) { scene in
            try await scene.client.verify()
            scene.client.start()
            let flow = EventFlow(scene.client)
            try await flow.start()
            // Commands need no slot, and functions are called without a fence.
            #expect(try await scene.client.execute(RedisCommand("ECHO", "x")).string == "x")
            _ = try await scene.client.execute(.function("push", tag: "{a}", 7))
            #expect(try await scene.list("{a}", on: 0) == [7])
            try await waitUntil("events") { flow.count > 20 ? nil : "\(flow.count)" }
            _ = await flow.finish()
            #expect(flow.missed == 0)
        }
    }

    @Test func theSentinelsPassword() async throws {
        try await RedisSentinelScene.run(access: .init(password: "secret", ownPassword: "other")) { scene in
            let address = "127.0.0.1:\(scene.servers.sentinels[0].port)"
            let without = await Self.refusal("redis+sentinel://:secret@\(address)/main")
            #expect(without?.contains("NOAUTH") == true, "\(without ?? "accepted")")
            let wrong = await Self.refusal("redis+sentinel://:secret@\(address)/main?sentinel-password=secret")
            #expect(wrong?.contains("WRONGPASS") == true, "\(wrong ?? "accepted")")
            #expect(await Self.refusal(scene.servers.url) == nil)
        }
    }

    @Test func refusals() async throws {
        let server = try await RedisServer(appendOnly: false)
        let sentinel = try SentinelServer(name: "main", master: server.port, quorum: 1)
        try await waitUntil("a Sentinel") {
            if let failure = await sentinel.failure { throw TestFailure(failure) }
            return await Self.refusal("redis+sentinel://127.0.0.1:\(sentinel.port)/main")
        }
        #expect(
            await Self.refusal("redis+sentinel://127.0.0.1:\(sentinel.port)/other")?.contains(
                "the Sentinel 127.0.0.1:\(sentinel.port) knows no master of the name other") == true)
        #expect(
            await Self.refusal("redis+sentinel://127.0.0.1:\(server.port)/main")?.contains(
                "127.0.0.1:\(server.port) is not a Sentinel") == true)
        #expect(
            await Self.refusal("redis://127.0.0.1:\(sentinel.port)")?.contains("is a Sentinel") == true)
        let unreachable = await Self.refusal("redis+sentinel://127.0.0.1:1,127.0.0.1:2/main")
        #expect(unreachable?.contains("no Sentinel of 127.0.0.1:1, 127.0.0.1:2 can be reached") == true)
        try await sentinel.remove()
        try await server.remove()
    }

    /// A server is not used before it says itself that it is the master.
    @Test func theSentinelNamesAReplica() async throws {
        let master = try await RedisServer(appendOnly: false)
        let replica = try await RedisServer(
            appendOnly: false, options: ["--replicaof", "127.0.0.1", "\(master.port)"])
        let sentinel = try SentinelServer(name: "main", master: replica.port, quorum: 1)
        let url = "redis+sentinel://127.0.0.1:\(sentinel.port)/main"
        let text =
            "127.0.0.1:\(replica.port), which the Sentinel 127.0.0.1:\(sentinel.port) calls the master: "
            + "the server is a replica of 127.0.0.1:\(master.port)"
        try await waitUntil("a refusal") {
            let refusal = await Self.refusal(url) ?? "accepted"
            return refusal.contains(text) ? nil : refusal
        }
        let client = try RedisSentinelScene.client(url, configure: RedisClusterScene.impatient)
        client.start()
        let error = await #expect(throws: RedisError.self) { try await client.execute(RedisCommand("ECHO", "x")) }
        #expect(error?.code == .timeout)
        let direct = RedisConnection(
            configuration: try replica.configuration, eventLoop: client.eventLoop, logger: RedisScene.logger)
        direct.start()
        _ = try await direct.execute(RedisCommand("REPLICAOF", "NO", "ONE"))
        try await waitUntil("a connection") { client.isConnected ? nil : "none" }
        #expect(try await client.execute(RedisCommand("ECHO", "x")).string == "x")
        await direct.close()
        await client.close()
        try await sentinel.remove()
        try await replica.remove()
        try await master.remove()
    }

    /// What `verify` says, in one line; nil when it accepts the URL.
    private static func refusal(_ url: String) async -> String? {
        do {
            let client = try RedisSentinelScene.client(url, configure: RedisClusterScene.impatient)
            try await client.verify()
            return nil
        } catch {
            let line = "\(error)"
            return line.contains("\n") ? "several lines: \(line)" : line
        }
    }
}
