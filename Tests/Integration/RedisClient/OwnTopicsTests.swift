import ClusterState
import NIOCore
import RedisClient
import TestKit
import Testing

/// The topics of a process that starts while a master is away.
@Suite(.serialized, .timeLimit(.minutes(2))) struct OwnTopicsTests {
    private static let slots = (0..<3).map { RedisClusterScene.slot(of: RedisClusterScene.tag(ofMaster: $0)) }

    /// A process's topics, one at each master, and what is told of them.
    private final class Listener: Sendable {
        let subscriber: ClusterSubscriber
        let messages = Recording<String>()
        /// The slots that may have missed something.
        let renewals = Recording<SlotScope>()
        private let topics: NIOLoopBoundBox<OwnTopics>

        init(_ cluster: RedisClient) {
            let (messages, renewals) = (messages, renewals)
            subscriber = ClusterSubscriber(
                cluster, logger: RedisScene.logger,
                callbacks: .init(
                    onMessage: { _, payload in messages.add(String(buffer: payload)) },
                    onReconnected: { renewals.add($0) }))
            topics = .makeBoxSendingValue(
                OwnTopics(
                    (0..<3).map { RedisClusterScene.tag(ofMaster: $0) + "g:1" }, of: subscriber, on: cluster,
                    onLate: { renewals.add(.slots([$0])) }),
                eventLoop: cluster.eventLoop)
            subscriber.start()
        }

        /// - Returns: whether the topics of most masters are confirmed, and how long that took.
        func subscribe() async throws -> (areServed: Bool, time: Duration) {
            let begin = ContinuousClock.now
            let areServed = try await withCheckedThrowingContinuation { continuation in
                subscriber.eventLoop.execute { [topics] in
                    topics.value.subscribe { continuation.resume(with: $0) }
                }
            }
            return (areServed, .now - begin)
        }
    }

    private static func publish(_ scene: RedisClusterScene, master: Int) async throws {
        let topic = RedisClusterScene.tag(ofMaster: master) + "g:1"
        let command = RedisCommand("SPUBLISH", .string(topic), "at \(master)").inSlot(slots[master])
        _ = try await scene.cluster.execute(command)
    }

    @Test func allMastersAnswer() async throws {
        try await RedisClusterScene.run { scene in
            let listener = Listener(scene.cluster)
            #expect(try await listener.subscribe().areServed)
            for master in 0..<3 { try await Self.publish(scene, master: master) }
            try await listener.messages.wait(for: 3, "messages")
            #expect(listener.renewals.all.isEmpty)
            await listener.subscriber.close()
        }
    }

    /// - Parameter isSlow: whether the master is back only after the subscription's time limit,
    ///   when nobody waits for it any more.
    @Test(arguments: [false, true]) func theTopicOfAMasterThatWasAwayFollows(isSlow: Bool) async throws {
        let limit = Duration.seconds(isSlow ? 2 : 20)
        func bounded(_ configuration: inout RedisConfiguration) { configuration.commandTimeout = limit }
        try await RedisClusterScene.run(configure: bounded) { scene in
            try await scene.servers.servers[0].kill()
            let listener = Listener(scene.cluster)
            let (areServed, time) = try await listener.subscribe()
            #expect(areServed && time < limit)
            for master in 1..<3 { try await Self.publish(scene, master: master) }
            try await listener.messages.wait(for: 2, "messages")
            if isSlow { try await letPass(limit + .seconds(2), "the subscription times out") }
            #expect(listener.renewals.all.isEmpty)

            try await scene.servers.servers[0].start()
            try await waitUntil("the topic is subscribed", within: .seconds(30)) {
                listener.renewals.all == [.slots([Self.slots[0]])] ? nil : "\(listener.renewals.all)"
            }
            try await waitUntil("the master answers", within: .seconds(30)) {
                do { try await Self.publish(scene, master: 0) } catch { return "\(error)" }
                return nil
            }
            try await waitUntil("its message") { listener.messages.all.last == "at 0" ? nil : "none" }
            await listener.subscriber.close()
        }
    }

    @Test func mostMastersAreNeeded() async throws {
        try await RedisClusterScene.run(configure: RedisClusterScene.impatient) { scene in
            for server in [0, 1] { try await scene.servers.servers[server].kill() }
            let listener = Listener(scene.cluster)
            #expect(try await !listener.subscribe().areServed)
            try await scene.servers.servers[1].start()
            try await waitUntil("most masters", within: .seconds(30)) {
                try await listener.subscribe().areServed ? nil : "too few"
            }
            await listener.subscriber.close()
        }
    }
}
