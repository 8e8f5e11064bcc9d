import BusProtocol
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Numbers of messages when Redis is restored to an older state.
@Suite struct MessageStoreNumberTests {
    @Test func aVersionIsNeverGivenAgain() async throws {
        try await MessageStoreScene.run(appendOnly: true) { scene in
            let box = KeySpace.tag(scene.user) + ":box"
            try await scene.openSession("s1")
            let first = try await scene.send("kept")
            var lost: Int64 = 0
            for number in 1...5 { lost = try await scene.send("lost \(number)").version }
            #expect(lost == first.version + 5)
            // As if Redis had been restored from a file without the last messages.
            try await scene.command("HSET", .string(box), "ver", .int64(first.version))
            try await scene.command("XTRIM", .string(KeySpace.tag(scene.user) + ":mbox"), "MAXLEN", 0)
            await scene.redis.server.freeze(false)
            try await scene.redis.server.kill()
            try await scene.redis.server.start()
            var next: Int64 = 0
            try await waitUntil("an acknowledged message") {
                next = (try? await scene.send("after the restart").version) ?? 0
                return next == 0 ? "not acknowledged" : nil
            }
            #expect(next > lost)
            // A client that has seen the lost message acknowledges that one, but not the
            // later one, which it has not seen.
            #expect(try await scene.clear(through: lost) < next)
            #expect(try await scene.read(fresh: true).entries.map(\.version) == [next])
        }
    }

    /// A master that was replaced while it was suspended may number something, by the clock, before it hears of that.
    @Test func inAClusterAVersionIsAtLeastTheClock() async throws {
        try await RedisClusterScene.run(RedisClusterServers(masters: 1, replicas: 0)) { scene in
            let client = try RedisClient(
                url: scene.servers.url, eventLoop: scene.cluster.eventLoop, libraries: [.messages],
                logger: RedisScene.logger)
            client.start()
            var message = UserMessage(
                to: UserKey(app: try AppID("app"), account: try Account("bob")), line: "hello",
                timeToLive: .milliseconds(60_000), condition: .always)
            message.bounds = MailboxBounds(entries: 100)
            let store = MessageStore(connection: client)
            let first = try await store.sendToUser(message).version
            try await letPass(.milliseconds(100), "the clock gets ahead of the next number")
            #expect(try await store.sendToUser(message).version >= first + 100)
            await client.close()
        }
    }
}
