import ClusterState
import NIOCore
import RedisClient
import TestKit
import Testing

/// Topics of a real Redis Cluster.
@Suite(.serialized) struct RedisClusterSubscriberTests {
    /// A subscriber, and what it has told.
    private struct Listener {
        let subscriber: ClusterSubscriber
        let messages = Recording<String>()
        let renewals = Recording<SlotScope>()

        init(_ cluster: RedisClient) {
            let (messages, renewals) = (messages, renewals)
            subscriber = ClusterSubscriber(
                cluster, logger: RedisScene.logger,
                callbacks: .init(
                    onMessage: { topic, payload in messages.add("\(topic)=\(String(buffer: payload))") },
                    onReconnected: { renewals.add($0) }))
            subscriber.start()
        }

        func subscribe(_ topics: [String]) async throws {
            for topic in topics {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    subscriber.eventLoop.execute {
                        subscriber.subscribe(topic) { continuation.resume(with: $0) }
                    }
                }
            }
        }

        func unsubscribe(_ topic: String) async throws {
            try await subscriber.eventLoop.submit { subscriber.unsubscribe(topic) }.get()
        }

        /// Waits until all of these slots have been renewed.
        func waitForRenewal(of slots: Set<UInt16>) async throws {
            try await waitUntil("renewed slots", within: .seconds(30)) {
                let missing = slots.filter { slot in !renewals.all.contains { $0.contains(slot) } }
                return missing.isEmpty && subscriber.isConnected ? nil : "\(missing.count) missing"
            }
        }
    }

    private static func publish(_ scene: RedisClusterScene, _ topics: [String], _ text: String) async throws {
        let commands = topics.map { RedisCommand("SPUBLISH", .string($0), .string(text)).inSlot(KeySlot.of($0)) }
        for result in await scene.cluster.execute(commands) { _ = try result.get() }
    }

    @Test func topicsOfManySlots() async throws {
        try await RedisClusterScene.run { scene in
            let listener = Listener(scene.cluster)
            let topics = (0..<200).map { "{\(Buckets.shared.tag($0 * 20))}g:\($0 % 2)" }
            try await listener.subscribe(topics)
            #expect(listener.subscriber.isConnected)
            try await Self.publish(scene, topics, "a")
            try await listener.messages.wait(for: 200, "messages")
            #expect(listener.messages.all.sorted() == topics.map { "\($0)=a" }.sorted())
            try await listener.unsubscribe(topics[7])
            try await Self.publish(scene, [topics[7], topics[8]], "b")
            try await listener.messages.wait(for: 201, "messages")
            #expect(listener.messages.all.last == "\(topics[8])=b")
            try await listener.subscribe([topics[7]])
            try await Self.publish(scene, [topics[7]], "c")
            try await listener.messages.wait(for: 202, "messages")
            #expect(listener.renewals.all.isEmpty)
            await listener.subscriber.close()
        }
    }

    @Test func aSlotMoves() async throws {
        try await RedisClusterScene.run { scene in
            let listener = Listener(scene.cluster)
            let tag = RedisClusterScene.tag(ofMaster: 0)
            let slot = RedisClusterScene.slot(of: tag)
            let topics = [tag + "g:1", tag + "g:2", RedisClusterScene.tag(ofMaster: 1)]
            try await listener.subscribe(topics)
            for (source, target) in [(0, 1), (1, 2)] {
                try await scene.servers.beginMigration(ofSlot: Int(slot), from: source, to: target)
                try await Self.publish(scene, topics, "half moved")
                try await scene.servers.endMigration(ofSlot: Int(slot), from: source, to: target)
                let before = listener.renewals.all.count
                try await waitUntil("a renewal") { listener.renewals.all.count > before ? nil : "none" }
                try await Self.publish(scene, topics, "moved")
            }
            try await listener.messages.wait(for: 12, "messages")
            #expect(listener.messages.all.count == 12)
            #expect(listener.renewals.all.allSatisfy { $0 == .slots([slot]) }, "\(listener.renewals.all)")
            await listener.subscriber.close()
        }
    }

    @Test func aMasterFails() async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            let listener = Listener(scene.cluster)
            let topics = (0..<90).map { "{\(Buckets.shared.tag($0 * 45))}g:1" }
            try await listener.subscribe(topics)
            let slots = Set(topics.map { KeySlot.of($0) }.filter { $0 < 16_384 / 3 })
            #expect(slots.count == 31)
            try await scene.servers.servers[0].kill()
            try await listener.waitForRenewal(of: slots)
            for renewal in listener.renewals.all {
                guard case .slots(let some) = renewal else { throw TestFailure("all slots were renewed") }
                #expect(some.isSubset(of: slots))
            }
            try await Self.publish(scene, topics, "after")
            try await listener.messages.wait(for: 90, "messages")
            #expect(Set(listener.messages.all) == Set(topics.map { "\($0)=after" }))
            await listener.subscriber.close()
        }
    }

    @Test func aSingleServer() async throws {
        let server = try await RedisServer(appendOnly: false)
        let cluster = try RedisClusterScene.client(server.url)
        cluster.start()
        let listener = Listener(cluster)
        try await listener.subscribe(["x"])
        _ = try await cluster.execute(RedisCommand("PUBLISH", "x", "1"))
        try await listener.messages.wait(for: 1, "messages")
        #expect(listener.messages.all == ["x=1"])
        try await server.kill()
        try await server.start()
        try await waitUntil("a renewal") { listener.renewals.all == [.all] ? nil : "\(listener.renewals.all)" }
        await listener.subscriber.close()
        await cluster.close()
        try await server.remove()
    }
}
