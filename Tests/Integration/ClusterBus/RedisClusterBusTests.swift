import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// What services and gateways do on a Redis Cluster: commands, posts, timers, mirrors and mail, in all partitions.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RedisClusterBusTests {
    private static let libraries: [RedisFunctionLibrary] = [
        .presence, .memberships, .channels, .calls, .messages, .leases, .timers, .instances, .streams,
    ]

    /// Runs a test with three masters and a client that has all libraries.
    private static func run(_ body: (RedisClient) async throws -> Void) async throws {
        try await RedisClusterScene.run { scene in
            let client = try RedisClient(
                url: scene.servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: libraries,
                logger: RedisScene.logger)
            client.start()
            try await waitUntil("the cluster") { client.isConnected ? nil : "not connected" }
            do {
                try await body(client)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    private static func question(_ number: Int) throws -> CountMembers {
        CountMembers(channel: ChannelKey(app: try AppID("app"), name: try ChannelName("room \(number)")))
    }

    /// Answers with the number in the channel's name.
    private static func router(_ handled: Recording<Int>) -> CommandRouter {
        var router = CommandRouter()
        router.on(CountMembers.self) { (command, _) throws(SignalingError) in
            let number = Int(command.channel.name.rawValue.dropFirst("room ".count)) ?? -1
            handled.add(number)
            return MemberCount(count: number)
        }
        return router
    }

    /// Runs a consumer for the duration of `body`.
    private static func consuming(
        _ client: RedisClient, _ router: CommandRouter, instance: String = "one",
        limits: CommandConsumer.Limits = CommandConsumer.Limits(), _ body: () async throws -> Void
    ) async throws {
        var consumer = CommandConsumer(
            service: .channelState, instance: instance, connection: client, router: router, logger: RedisScene.logger)
        consumer.limits = limits
        let running = Task { [consumer] in try await consumer.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        try await running.value
        try result.get()
    }

    /// Waits until a key of each partition is empty, as a command such as XLEN tells.
    private static func waitForEmpty(
        _ client: RedisClient, _ command: String, _ key: (BusPartition) -> String
    ) async throws {
        for partition in client.bus.partitions {
            try await waitUntil("an empty \(key(partition))") {
                let length = try await client.execute(RedisCommand(command, key: key(partition))).int
                return length == 0 ? nil : "\(length ?? -1)"
            }
        }
    }

    /// A partition of a master, counted from 0, of three.
    private static func question(ofMaster master: Int) throws -> CountMembers {
        for number in 0... {
            let question = try question(number)
            if Int(KeySpace.slot(of: question.subject)) * 3 / 16_384 == master { return question }
        }
        throw TestFailure("no channel")
    }

    /// While one master is away, the commands in work of the others' partitions are renewed as ever: no other instance
    /// takes them. Nor does the end of an instance wait for that master.
    @Test func aMasterThatIsAwayLetsNoCommandBeHandledTwice() async throws {
        try await RedisClusterScene.run { scene in
            let client = try RedisClient(
                url: scene.servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                libraries: Self.libraries, logger: RedisScene.logger)
            client.start()
            try await waitUntil("the cluster") { client.isConnected ? nil : "not connected" }
            let handled = Recording<CommandID>()
            var router = CommandRouter()
            router.on(CountMembers.self) { (_, context) throws(SignalingError) in
                handled.add(context.id)
                // Longer than a command may go without a renewal.
                try? await letPass(.seconds(6), "a command is in work")
                return MemberCount(count: 1)
            }
            try await scene.servers.servers[0].kill()
            try await waitUntil("the outage") { await client.checkReadiness() == .ready ? "ready" : nil }
            var end = ContinuousClock.now
            let question = try Self.question(ofMaster: 2)
            let sender = CommandSender(sender: .gateway(GatewayID("g")), connection: client, logger: RedisScene.logger)
            try await Self.consuming(client, router, instance: "one") {
                try await Self.consuming(client, router, instance: "two") {
                    client.eventLoop.execute { sender.send(question, within: .seconds(60)) { _ in } }
                    try await handled.wait(for: 1, "commands in work")
                    try await letPass(.seconds(5), "the command is renewed")
                    #expect(handled.all.count == 1)
                    end = .now
                }
            }
            // Each of the 16 streams of the master that is away would take 7 s.
            #expect(end.duration(to: .now) < .seconds(30) * patience)
            await client.close()
        }
    }

    @Test func everyLibraryIsAccepted() async throws {
        let single = try await RedisServer(appendOnly: false)
        let connection = RedisClient(
            configuration: try single.configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: RedisScene.logger)
        connection.start()
        try await RedisClusterScene.run { scene in
            for library in Self.libraries {
                let cluster = library.of(.cluster)
                #expect(cluster.name != library.name)
                let loading = RedisCommand("FUNCTION", "LOAD", .bytes(cluster.source))
                #expect(try await scene.servers.execute(loading, on: 0).string == cluster.name)
                // Both flavours beside each other, as while a single Redis becomes a cluster.
                for library in [library, cluster] {
                    let loaded = try await connection.execute(
                        RedisCommand("FUNCTION", "LOAD", .bytes(library.source)))
                    #expect(loaded.string == library.name)
                }
            }
        }
        await connection.close()
        try await single.remove()
    }

    @Test func commandsOfAllPartitionsAreAnswered() async throws {
        try await Self.run { client in
            let handled = Recording<Int>()
            let gateway = try await ClusterGateway(client)
            let count = 600
            let subjects = try (0..<count).map { try Self.question($0).subject }
            let partitions = Set(subjects.map { client.bus.partition(of: $0) })
            #expect(partitions.count == client.bus.partitions.count)
            try await Self.consuming(client, Self.router(handled)) {
                for number in 0..<count {
                    #expect(await gateway.send(try Self.question(number)) == .success(MemberCount(count: number)))
                }
                try await Self.waitForEmpty(client, "XLEN") { KeySpace.commands(.channelState, in: $0) }
            }
            #expect(handled.all == Array(0..<count))
            await gateway.subscriber.close()
        }
    }

    @Test func whatADeadInstanceHeldIsTakenOver() async throws {
        try await Self.run { client in
            let count = 200
            let posts = try (0..<count).map {
                PostedCommand.command(on: client.bus, for: try Self.question($0), id: CommandID("post \($0)"))
            }
            for result in await client.execute(posts) { _ = try result.get() }
            var held = 0
            for partition in client.bus.partitions {
                let key = RedisArgument.string(KeySpace.posts(.channelState, in: partition))
                let commands = [
                    RedisCommand("XGROUP", "CREATE", key, "service", 0, "MKSTREAM"),
                    RedisCommand("XREADGROUP", "GROUP", "service", "dead", "COUNT", .int(count), "STREAMS", key, ">"),
                ]
                let replies = await client.execute(commands.map { $0.inSlot(partition.slot) })
                held += try replies[1].get().array?.first?.array?.last?.array?.count ?? 0
            }
            #expect(held == count)
            let handled = Recording<Int>()
            var limits = CommandConsumer.Limits()
            limits.abandonedAfter = .milliseconds(1)
            try await Self.consuming(client, Self.router(handled), limits: limits) {
                try await Self.waitForEmpty(client, "XLEN") { KeySpace.posts(.channelState, in: $0) }
            }
            #expect(Set(handled.all) == Set(0..<count))
        }
    }

    @Test func timersOfAllPartitionsFire() async throws {
        try await Self.run { client in
            for partition in client.bus.partitions {
                let timers = DueTimers(service: .invitation, connection: client, partition: partition)
                try await timers.schedule("timer \(partition.number)", at: RedisTime(milliseconds: 1))
                let claimed = try await timers.claim()
                #expect(claimed.map(\.member) == ["timer \(partition.number)"])
                try await timers.done(claimed)
                #expect(try await timers.claim(lease: .zero).isEmpty)
            }
            try await Self.waitForEmpty(client, "ZCARD") { KeySpace.due(.invitation, in: $0) }
        }
    }

    @Test func changesOfAllPartitionsAreCopiedInOrder() async throws {
        try await Self.run { client in
            let (partitions, count) = (client.bus.partitions, 1200)
            let commands = (0..<count).map {
                MirrorStream.recording(
                    MemberCount(count: $0), for: .presence, in: partitions[$0 % partitions.count])
            }
            for result in await client.execute(commands) { _ = try result.get() }
            let seen = Recording<[Int]>()
            let mirror = MirrorConsumer(
                .changes(.presence), instance: "one", connection: client, logger: RedisScene.logger
            ) { rows in seen.add(try rows.map { try $0.int("count") }) }
            let running = Task { try await mirror.run() }
            try await waitUntil("all rows") {
                let copied = seen.all.map(\.count).reduce(0, +)
                return copied >= count ? nil : "\(copied)"
            }
            let rows = seen.all.flatMap(\.self)
            #expect(rows.sorted() == Array(0..<count))
            for partition in partitions {
                let own = rows.filter { $0 % partitions.count == partition.number }
                #expect(own == own.sorted())
            }
            try await Self.waitForEmpty(client, "XLEN") { KeySpace.mirror(.changes(.presence), in: $0) }
            running.cancel()
            try await running.value
        }
    }

    private static func logIn(_ user: UserKey, at gateway: GatewayID, _ client: RedisClient) async throws {
        let keys = UserKeys(user)
        for key in [keys.box, keys.session] {
            _ = try await client.execute(
                RedisCommand("HSET", key: key, "sid", "s1", "gateway", .string(gateway.rawValue)))
        }
    }

    /// Versions in a cluster are times, so that two of them may be far apart. Each removal of forgotten mail costs as
    /// much as the rest of a message, so it is done for sixteen at once.
    @Test func forgottenMailIsRemovedNowAndThen() async throws {
        try await Self.run { client in
            let user = UserKey(app: try AppID("app"), account: try Account("bob"))
            let gateway = GatewayID("g1")
            try await Self.logIn(user, at: gateway, client)
            let sender = UserKeys(UserKey(app: try AppID("app"), account: try Account("alice")))
            let batch = try await client.eventLoop.submit {
                NIOLoopBound(MailboxBatch(connection: client, gateway: gateway), eventLoop: client.eventLoop)
            }.get()
            var lengths: [Int64] = []
            for number in 0..<40 {
                let cleared = Recording<Result<Int64, SignalingError>>()
                client.eventLoop.execute {
                    let message = InstantMessage(
                        to: user, from: sender, in: SessionID("s0"), line: "\(number)", seconds: 60)
                    batch.value.send(message) { sent in
                        guard case .success(let version) = sent else { return cleared.add(sent) }
                        batch.value.clear(user, in: SessionID("s1"), through: version) { cleared.add($0) }
                    }
                }
                try await cleared.wait(for: 1, "the acknowledgement")
                _ = try cleared.all[0].get()
                let length = try await client.execute(RedisCommand("XLEN", key: KeySpace.tag(user) + ":mbox"))
                lengths.append(try #require(length.int))
            }
            #expect(lengths == (1...40).map { Int64($0 % 16) })
        }
    }

    /// Messages of one turn to users in several slots: each user gets hers in their order,
    /// and her gateway hears of them.
    @Test func mailInItsOrder() async throws {
        try await Self.run { client in
            let gateway = try await ClusterGateway(client)
            let users = try ["bob", "carol", "dave", "erin"].map {
                UserKey(app: try AppID("app"), account: try Account($0))
            }
            #expect(Set(users.map { KeySlot.of(KeySpace.tag($0)) }).count == users.count)
            for user in users { try await Self.logIn(user, at: gateway.id, client) }
            let sender = UserKeys(UserKey(app: try AppID("app"), account: try Account("alice")))
            let count = 40
            let results = Recording<Result<Int64, SignalingError>>()
            client.eventLoop.execute {
                let batch = MailboxBatch(connection: client, gateway: gateway.id)
                for number in 0..<count {
                    let message = InstantMessage(
                        to: users[number % users.count], from: sender, in: SessionID("s0"), line: "\(number)",
                        seconds: 60)
                    batch.send(message) { results.add($0) }
                }
            }
            try await results.wait(for: count, "answers")
            for result in results.all { _ = try result.get() }
            for (index, user) in users.enumerated() {
                let entries = try await client.execute(
                    RedisCommand("XRANGE", key: KeySpace.tag(user) + ":mbox", "-", "+")
                ).array?.compactMap { $0.array?.last?.array?[1].string }
                #expect(entries == stride(from: index, to: count, by: users.count).map { "\($0)" })
            }
            try await waitUntil("the gateway's news") {
                let heard = gateway.mail.all.map(\.entry.line)
                return heard.count == count ? nil : "\(heard)"
            }
            await gateway.subscriber.close()
        }
    }
}

/// The part of a gateway that sends commands and hears of mail, on a cluster.
private struct ClusterGateway: Sendable {
    let id: GatewayID
    let subscriber: ClusterSubscriber
    let sender: CommandSender
    let mail: Recording<MailDelivery>

    init(_ client: RedisClient) async throws {
        let id = GatewayID("gateway-\(SecureRandom.hex(bytes: 4))")
        let sender = CommandSender(sender: .gateway(id), connection: client, logger: RedisScene.logger)
        let mail = Recording<MailDelivery>()
        subscriber = ClusterSubscriber(
            client, logger: RedisScene.logger,
            callbacks: .init(onMessage: { _, payload in
                switch try? GatewayEvent(payload: payload.readableBytesView) {
                case .reply(let id, let outcome): sender.received(id, outcome)
                case .mail(let deliveries): for delivery in deliveries { mail.add(delivery) }
                default: break
                }
            }))
        (self.id, self.sender, self.mail) = (id, sender, mail)
        subscriber.start()
        let confirmed = Recording<Bool>()
        let topics = client.bus.topics(of: id)
        client.eventLoop.execute { [subscriber] in
            for topic in topics { subscriber.subscribe(topic) { confirmed.add((try? $0.get()) != nil) } }
        }
        try await confirmed.wait(for: topics.count, "topics")
        guard confirmed.all.allSatisfy(\.self) else { throw TestFailure("not all topics are subscribed") }
    }

    func send<C: ServiceCommand>(_ command: C) async -> Result<C.Reply, SignalingError> {
        await withCheckedContinuation { continuation in
            subscriber.eventLoop.execute {
                sender.send(command, within: .seconds(8 * patience)) { continuation.resume(returning: $0) }
            }
        }
    }
}
