import NIOCore
import RedisClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisSubscriberTests {
    private struct Listener: Sendable {
        let subscriber: RedisSubscriber
        let messages = Recording<String>()
        let batchEnds = Recording<Int>()
        let renewals = Recording<Bool>()

        init(_ scene: RedisScene, _ configure: (inout RedisConfiguration) -> Void = { _ in }) throws {
            var configuration = try scene.server.configuration
            configure(&configuration)
            let (messages, batchEnds, renewals) = (messages, batchEnds, renewals)
            subscriber = RedisSubscriber(
                configuration: configuration, eventLoop: scene.eventLoop, logger: RedisScene.logger,
                callbacks: .init(
                    onMessage: { messages.add("\($0)=\(String(buffer: $1))") },
                    onBatchEnd: { batchEnds.add(messages.all.count) },
                    onReconnected: { renewals.add(true) }))
            subscriber.start()
        }

        func subscribe(_ topic: String) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                subscriber.eventLoop.execute { subscriber.subscribe(topic) { continuation.resume(with: $0) } }
            }
        }

        func unsubscribe(_ topic: String) async throws {
            try await subscriber.eventLoop.submit { subscriber.unsubscribe(topic) }.get()
        }
    }

    private func publish(_ scene: RedisScene, _ topic: String, _ payloads: [String]) async throws -> Int64 {
        let commands = payloads.map { RedisCommand("PUBLISH", .string(topic), .string($0)) }
        var receivers: Int64 = 0
        for result in await scene.connection.execute(commands) { receivers += try result.get().int ?? 0 }
        return receivers
    }

    @Test func messagesInOrderAndBatches() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene)
            try await listener.subscribe("a")
            try await listener.subscribe("b")
            let texts = (0..<500).map { "\($0)" }
            #expect(try await publish(scene, "a", texts) == 500)
            #expect(try await publish(scene, "b", ["\u{0}é"]) == 1)
            try await listener.messages.wait(for: 501, "messages")
            #expect(listener.messages.all == texts.map { "a=\($0)" } + ["b=\u{0}é"])
            try await waitUntil("the end of the last batch") { listener.batchEnds.all.last == 501 ? nil : "open" }
            #expect(listener.batchEnds.all.count < 100)
            #expect(listener.renewals.all.isEmpty)
            await listener.subscriber.close()
        }
    }

    @Test func resubscribesAfterClientKill() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene)
            // More topics than one SUBSCRIBE command contains.
            for number in 0..<700 { try await listener.subscribe("topic-\(number)") }
            #expect(try await scene.connection.execute(RedisCommand("CLIENT", "KILL", "TYPE", "pubsub")).int == 1)
            try await listener.renewals.wait(for: 1, "renewals")
            #expect(listener.subscriber.isConnected)
            #expect(try await publish(scene, "topic-699", ["again"]) == 1)
            try await listener.messages.wait(for: 1, "messages")
            #expect(listener.messages.all == ["topic-699=again"])
            await listener.subscriber.close()
        }
    }

    @Test func subscribingDuringAnOutageWaits() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene)
            try await listener.subscribe("a")
            try await scene.server.kill()
            try await waitUntil("the outage") { listener.subscriber.isConnected ? "still connected" : nil }
            async let late: Void = listener.subscribe("b")
            try await scene.server.start()
            try await late
            try await listener.renewals.wait(for: 1, "renewals")
            #expect(try await publish(scene, "b", ["x"]) == 1)
            #expect(try await publish(scene, "a", ["y"]) == 1)
            try await listener.messages.wait(for: 2, "messages")
            await listener.subscriber.close()
        }
    }

    @Test func unsubscribing() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene)
            try await listener.subscribe("a")
            try await listener.unsubscribe("a")
            try await listener.subscribe("b")
            #expect(try await publish(scene, "a", ["x"]) == 0)
            // All in one tick: the confirmation of the first subscription must not be taken for that of the last.
            let loop = listener.subscriber.eventLoop
            let outcomes = Recording<String>()
            try await loop.submit {
                listener.subscriber.subscribe("c") { outcomes.add("first \((try? $0.get()) != nil)") }
                listener.subscriber.unsubscribe("c")
                listener.subscriber.subscribe("c") { outcomes.add("second \((try? $0.get()) != nil)") }
            }.get()
            try await outcomes.wait(for: 2, "outcomes")
            #expect(outcomes.all == ["first false", "second true"])
            #expect(try await publish(scene, "c", ["y"]) == 1)
            try await listener.messages.wait(for: 1, "messages")
            await listener.subscriber.close()
        }
    }

    @Test func boundOfTopics() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene) { $0.maxTopics = 2 }
            try await listener.subscribe("a")
            try await listener.subscribe("b")
            try await listener.subscribe("a")
            await #expect { try await listener.subscribe("c") } throws: { ($0 as? RedisError)?.code == .full }
            try await listener.unsubscribe("a")
            try await listener.subscribe("c")
            await listener.subscriber.close()
        }
    }

    @Test func aServerThatSaysNothingIsLeft() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene) { $0.subscriberIdleTimeout = .milliseconds(500) }
            try await listener.subscribe("a")
            await scene.server.freeze(true)
            try await waitUntil("the subscriber's doubt") { listener.subscriber.isConnected ? "still trusts" : nil }
            await scene.server.freeze(false)
            try await listener.renewals.wait(for: 1, "renewals")
            // The server may not have noticed yet that the old connection has ended.
            #expect(try await publish(scene, "a", ["x"]) >= 1)
            try await listener.messages.wait(for: 1, "messages")
            #expect(listener.messages.all == ["a=x"])
            await listener.subscriber.close()
        }
    }

    @Test func quietIsNotDeath() async throws {
        try await RedisScene.run { scene in
            let listener = try Listener(scene) { $0.subscriberIdleTimeout = .milliseconds(200) }
            try await listener.subscribe("a")
            // Only PINGs are sent here, so at least two of them must have been answered.
            try await waitUntil("two answers to PING") {
                let text = try await scene.connection.execute(RedisCommand("INFO", "commandstats")).string ?? ""
                let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_ping:calls=") }
                let calls = line?.split(separator: "=")[1].split(separator: ",")[0] ?? "0"
                // Three more PINGs come from handshakes: of the scene's connection, of the server's start and of this
                // subscriber.
                return (Int(calls) ?? 0) >= 5 ? nil : "\(calls) calls"
            }
            #expect(listener.renewals.all.isEmpty)
            await listener.subscriber.close()
        }
    }
}
