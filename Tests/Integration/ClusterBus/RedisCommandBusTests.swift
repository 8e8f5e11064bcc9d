import BusProtocol
import ClusterBus
import ClusterState
import Logging
import NIOCore
import RedisClient
import ServiceLifecycle
import SignalingProtocol
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisCommandBusTests {
    private static let stream = KeySpace.commands(.channelState)

    private static func question(_ name: String = "room") throws -> CountMembers {
        CountMembers(channel: ChannelKey(app: try AppID("app"), name: try ChannelName(name)))
    }

    /// Answers with the length of the channel's name; refuses the channel named `refused`.
    private static func router(_ handled: Recording<CommandContext>) -> CommandRouter {
        var router = CommandRouter()
        router.on(CountMembers.self) { (command, context) throws(SignalingError) in
            handled.add(context)
            guard command.channel.name.rawValue != "refused" else {
                throw SignalingError(.userNumberOther, .wrongState, "not this one")
            }
            return MemberCount(count: command.channel.name.rawValue.utf8.count)
        }
        return router
    }

    /// Runs a consumer for the duration of `body`.
    private static func consuming(
        _ scene: RedisScene, _ router: CommandRouter, instance: String = "one",
        limits: CommandConsumer.Limits = CommandConsumer.Limits(), _ body: () async throws -> Void
    ) async throws {
        var consumer = CommandConsumer(
            service: .channelState, instance: instance, connection: scene.connection, router: router,
            logger: RedisScene.logger)
        consumer.limits = limits
        let running = Task { [consumer] in try await consumer.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            try await running.value
            throw error
        }
        running.cancel()
        try await running.value
    }

    private static func length(
        _ scene: RedisScene, of stream: String = RedisCommandBusTests.stream
    ) async throws -> Int64 {
        try await scene.connection.execute(RedisCommand("XLEN", .string(stream))).int ?? -1
    }

    @Test func roundTrips() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            try await Self.consuming(scene, Self.router(handled)) {
                let gateway = try await RedisGateway(scene)
                #expect(await gateway.send(try Self.question("é:{}")) == .success(MemberCount(count: 5)))
                let counts = await withTaskGroup(of: Int?.self) { group in
                    for number in 0..<2000 {
                        group.addTask {
                            guard let question = try? Self.question(String(repeating: "x", count: number % 100 + 1))
                            else {
                                return nil
                            }
                            return try? await gateway.send(question).get().count
                        }
                    }
                    return await group.reduce(into: [Int?]()) { $0.append($1) }
                }
                #expect(counts.compactMap(\.self).sorted() == (0..<2000).map { $0 % 100 + 1 }.sorted())
                #expect(Set(handled.all.map(\.id)).count == 2001)
                try await waitUntil("an empty stream") {
                    let length = try await Self.length(scene)
                    return length == 0 ? nil : "\(length) entries"
                }
                await gateway.subscriber.close()
            }
        }
    }

    @Test func refusals() async throws {
        try await RedisScene.run { scene in
            try await Self.consuming(scene, Self.router(Recording())) {
                let gateway = try await RedisGateway(scene)
                #expect(
                    await gateway.send(try Self.question("refused"))
                        == .failure(SignalingError(.userNumberOther, .wrongState, "not this one")))
                await gateway.subscriber.close()
            }
        }
    }

    private static let unknown = SignalingError(.unknown, .unknownOperation, "the service does not know this command")

    /// The delivery count of the stream's only entry; 0 when it has none, or no consumer has created the group yet.
    private static func deliveries(_ scene: RedisScene) async -> Int64 {
        let pending = try? await scene.connection.execute(
            RedisCommand("XPENDING", .string(stream), "service", "-", "+", 1))
        return pending?.array?.first?.array?.last?.int ?? 0
    }

    @Test func aCommandThatNobodyKnowsIsRefusedAtItsThirdDelivery() async throws {
        try await RedisScene.run { scene in
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(300)
            try await Self.consuming(scene, Self.router(Recording()), limits: limits) {
                let gateway = try await RedisGateway(scene)
                let command = ListMembers(channel: try Self.question().channel, limit: 1)
                let answer = Task { await gateway.send(command) }
                // Each of the earlier deliveries leaves it on the stream.
                try await waitUntil("a second delivery") { await Self.deliveries(scene) == 2 ? nil : "not yet" }
                #expect(await answer.value == .failure(Self.unknown))
                try await waitUntil("an empty stream") { try await Self.length(scene) == 0 ? nil : "not yet" }
                await gateway.subscriber.close()
            }
        }
    }

    @Test func aCommandThatOnlyANewerInstanceKnowsIsLeftToIt() async throws {
        try await RedisScene.run { scene in
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(1)
            let gateway = try await RedisGateway(scene)
            let answer = Task { await gateway.send(try Self.question()) }
            try await Self.consuming(scene, CommandRouter(), instance: "older") {
                try await waitUntil("the older instance's try") {
                    await Self.deliveries(scene) == 1 ? nil : "not yet"
                }
            }
            try await Self.consuming(scene, Self.router(Recording()), instance: "newer", limits: limits) {
                let outcome = try await answer.value
                #expect(outcome == .success(MemberCount(count: 4)))
            }
            await gateway.subscriber.close()
        }
    }

    @Test func aNewerEnvelopeIsRefusedAtItsThirdDelivery() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(300)
            let answers = Recording<GatewayEvent>()
            let subscriber = RedisSubscriber(
                configuration: try scene.server.configuration, eventLoop: scene.eventLoop, logger: RedisScene.logger,
                callbacks: .init(onMessage: { _, payload in
                    if let event = try? GatewayEvent(payload: payload.readableBytesView) { answers.add(event) }
                }))
            subscriber.start()
            let topic = KeySpace.topic(GatewayID("g"))
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                scene.eventLoop.execute { subscriber.subscribe(topic) { continuation.resume(with: $0) } }
            }
            try await Self.consuming(scene, Self.router(handled), limits: limits) {
                let command = "1:v1:22:op13:channel.count2:id1:74:from1:g5:until1:03:app3:app7:channel4:room"
                _ = try await scene.connection.execute(
                    RedisCommand("XADD", .string(Self.stream), "*", "c", .string(command)))
                try await waitUntil("a second delivery") { await Self.deliveries(scene) == 2 ? nil : "not yet" }
                #expect(answers.all.isEmpty)
                try await answers.wait(for: 1, "answers")
                #expect(answers.all == [.reply(CommandID("7"), .failure(Self.unknown))])
                #expect(handled.all.isEmpty)
            }
            await subscriber.close()
        }
    }

    @Test func malformedEntriesAreSetAside() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(1)
            limits.deliveries = 2
            try await Self.consuming(scene, Self.router(handled), limits: limits) {
                for fields: [RedisArgument] in [
                    ["junk", "x"], ["c", "2:op13:channel.count2:id3:c-15:until1:01:x1:y"],
                ] {
                    _ = try await scene.connection.execute(
                        RedisCommand("XADD", arguments: [.string(Self.stream), "*"] + fields))
                }
                try await waitUntil("an empty stream") {
                    let length = try await Self.length(scene)
                    return length == 0 ? nil : "\(length) entries"
                }
                #expect(handled.all.isEmpty)
                // An entry that is not a command is set aside; a command without its fields was refused by its handler.
                let kept = try await scene.connection.execute(
                    RedisCommand("XRANGE", .string(KeySpace.setAside(.channelState)), "-", "+"))
                #expect(kept.array?.compactMap { $0.array?[1].array?.last?.string } == ["x"])
            }
        }
    }

    @Test func withoutAnAnswerTheDeadlineEndsIt() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene)
            let start = ContinuousClock.now
            let outcome = await gateway.send(try Self.question(), within: .milliseconds(300))
            #expect(outcome == .failure(.timeout()))
            #expect(start.duration(to: .now) >= .milliseconds(300))
            #expect(try await gateway.subscriber.eventLoop.submit { gateway.sender.pendingCount }.get() == 0)
            await gateway.subscriber.close()
        }
    }

    @Test func anAttemptThatIsUnderWayKeepsItsAnswer() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene)
            let sender = gateway.sender
            let question = try Self.question()
            let outcomes = Recording<String>()
            try await scene.eventLoop.submit {
                for name in ["first", "second"] {
                    sender.send(question, as: CommandID("same"), within: .milliseconds(300)) { outcome in
                        if case .failure(let error) = outcome { outcomes.add("\(name) \(error.reason)") }
                    }
                }
            }.get()
            try await waitUntil("both outcomes") { outcomes.all.count == 2 ? nil : "\(outcomes.all)" }
            #expect(outcomes.all == ["second busy", "first timeout"])
            await gateway.subscriber.close()
        }
    }

    @Test func aCommandPastItsDeadlineIsDropped() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            // The consumer first learns the Redis clock; then come entries that are old by that clock.
            let time = try await scene.connection.execute(RedisCommand("TIME")).array?.first?.int ?? 0
            try await Self.consuming(scene, Self.router(handled)) {
                let gateway = try await RedisGateway(scene)
                _ = try await gateway.send(try Self.question()).get()
                let late = PostedCommand.command(
                    on: .single, for: try Self.question(), id: CommandID("late"),
                    deadline: RedisTime(milliseconds: (time - 60) * 1000))
                _ = try await scene.connection.execute(late)
                try await waitUntil("an empty stream of posts") {
                    let length = try await Self.length(scene, of: KeySpace.posts(.channelState))
                    return length == 0 ? nil : "\(length) entries"
                }
                _ = try await gateway.send(try Self.question()).get()
                try await waitUntil("an empty stream") {
                    let length = try await Self.length(scene)
                    return length == 0 ? nil : "\(length) entries"
                }
                #expect(handled.all.count == 2)
                #expect(!handled.all.contains { $0.id == CommandID("late") })
                await gateway.subscriber.close()
            }
        }
    }

    @Test func whatADeadConsumerLeftIsClaimed() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(200)
            let gateway = try await RedisGateway(scene)
            // Another instance takes ten commands and dies.
            _ = try await scene.connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(Self.stream), "service", "0", "MKSTREAM"))
            let answers = Task {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<10 {
                        group.addTask { (try? await gateway.send(try Self.question()).get().count) == 4 }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            try await waitUntil("ten entries") { try await Self.length(scene) == 10 ? nil : "fewer" }
            _ = try await scene.connection.execute(
                RedisCommand("XREADGROUP", "GROUP", "service", "dead", "STREAMS", .string(Self.stream), ">"))
            try await Self.consuming(scene, Self.router(handled), limits: limits) {
                #expect(await answers.value == 10)
            }
            #expect(Set(handled.all.map(\.id)).count == 10)
            await gateway.subscriber.close()
        }
    }

    /// As long as Redis was away nobody could renew entries, so one that was not renewed
    /// says nothing about its consumer.
    @Test func nothingIsClaimedOverAYoungConnection() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<ContinuousClock.Instant>()
            var router = CommandRouter()
            router.on(CountMembers.self) { _, _ throws(SignalingError) in
                handled.add(.now)
                return MemberCount(count: 0)
            }
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .seconds(2)
            let gateway = try await RedisGateway(scene)
            _ = try await scene.connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(Self.stream), "service", "0", "MKSTREAM"))
            let question = try Self.question()
            let answer = Task { await gateway.send(question) }
            try await waitUntil("an entry") { try await Self.length(scene) == 1 ? nil : "none" }
            _ = try await scene.connection.execute(
                RedisCommand("XREADGROUP", "GROUP", "service", "other", "STREAMS", .string(Self.stream), ">"))
            try await letPass(.milliseconds(2100), "the entry counts as abandoned")
            let consumer = try await scene.otherConnection()
            let connected = ContinuousClock.now
            try await Self.consuming(
                RedisScene(server: scene.server, connection: consumer), router, limits: limits
            ) {
                #expect(await answer.value == .success(MemberCount(count: 0)))
            }
            let first = try #require(handled.all.first)
            let waited = connected.duration(to: first)
            // `connected` is a moment after the connection was made.
            #expect(waited > .milliseconds(1800), "\(waited)")
            await consumer.close()
            await gateway.subscriber.close()
        }
    }

    @Test func redeliveredUnderOneId() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<CommandContext>()
            let gateway = try await RedisGateway(scene)
            // The command is sent again before any consumer reads it, as by a gateway that doubts its subscription.
            let answer = Task { await gateway.send(try Self.question()) }
            try await waitUntil("an entry") { try await Self.length(scene) == 1 ? nil : "none" }
            try await gateway.subscriber.eventLoop.submit { gateway.sender.resendPending() }.get()
            try await waitUntil("two entries") { try await Self.length(scene) == 2 ? nil : "fewer" }
            // A command is sent again only once, in case its answer is what breaks the subscription.
            try await gateway.subscriber.eventLoop.submit { gateway.sender.resendPending() }.get()
            _ = try await scene.connection.execute(RedisCommand("PING"))
            #expect(try await Self.length(scene) == 2)
            try await Self.consuming(scene, Self.router(handled)) {
                #expect(try await answer.value == .success(MemberCount(count: 4)))
                try await handled.wait(for: 2, "deliveries")
            }
            #expect(Set(handled.all.map(\.id)).count == 1)
            await gateway.subscriber.close()
        }
    }

    /// The subscriber comes back while Redis' answer to the command's XADD is under way: its reply may be lost already.
    @Test func aCommandOnItsWayIsRepeatedWhenItIsSent() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene)
            await scene.server.freeze(true)
            let question = try Self.question()
            try await gateway.subscriber.eventLoop.submit {
                gateway.sender.send(question) { _ in }
                gateway.sender.resendPending()
                gateway.sender.resendPending()
            }.get()
            await scene.server.freeze(false)
            try await waitUntil("two entries") { try await Self.length(scene) == 2 ? nil : "fewer" }
            _ = try await scene.connection.execute(RedisCommand("PING"))
            #expect(try await Self.length(scene) == 2)
            await gateway.subscriber.close()
        }
    }

    @Test func deadConsumersAreRemoved() async throws {
        try await RedisScene.run { scene in
            _ = try await scene.connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(Self.stream), "service", "0", "MKSTREAM"))
            _ = try await scene.connection.execute(
                RedisCommand("XGROUP", "CREATECONSUMER", .string(Self.stream), "service", "old"))
            var limits = CommandConsumer.Limits()
            limits.consumerGoneAfter = .milliseconds(-1)
            try await Self.consuming(scene, Self.router(Recording()), limits: limits) {
                try await waitUntil("the removal") {
                    let consumers = try await scene.connection.execute(
                        RedisCommand("XINFO", "CONSUMERS", .string(Self.stream), "service"))
                    let names = consumers.array?.compactMap { $0.array?[1].string } ?? []
                    return names.contains("old") ? "\(names)" : nil
                }
            }
        }
    }

    @Test func gracefulShutdownFinishesWhatIsInWork() async throws {
        try await RedisScene.run { scene in
            let gate = AsyncStream.makeStream(of: Void.self)
            let started = Recording<Bool>()
            var router = CommandRouter()
            router.on(CountMembers.self) { (_, _) throws(SignalingError) in
                started.add(true)
                for await _ in gate.stream { break }
                return MemberCount(count: 7)
            }
            let consumer = CommandConsumer(
                service: .channelState, instance: "one", connection: scene.connection, router: router,
                logger: RedisScene.logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(services: [consumer], logger: RedisScene.logger))
            let running = Task { try await group.run() }
            let gateway = try await RedisGateway(scene)
            async let answer = gateway.send(try Self.question())
            try await started.wait(for: 1, "commands in work")
            await group.triggerGracefulShutdown()
            gate.continuation.yield()
            #expect(try await answer == .success(MemberCount(count: 7)))
            try await running.value
            #expect(try await Self.length(scene) == 0)
            await gateway.subscriber.close()
        }
    }
}
