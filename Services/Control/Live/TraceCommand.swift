internal import ArgumentParser
internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import NIOCore
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl trace`.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows what happens on a user's connections: calls, answers, messages, ends.",
        discussion: """
            As the gateways see it, without tokens and texts. Events of a channel are shown only while the gateway looks at each of \
            them for the user. The user need not be logged in. It is noted in the audit trail. With --json each entry is an object \
            on a line of its own, with milliseconds of the gateway's clock. Ends at SIGINT, or after --count or --seconds.
            """)

    /// How long gateways go on without a new order, and how often there is one, in seconds.
    private static let (orderLife, orderPause) = (15, 5)
    private static let longest = 3600
    /// Entries that may wait to be written, when whoever reads the output is slow; older ones are left out.
    private static let waitingEntries = 10_000

    @OptionGroup var user: UserOptions

    @Option(help: "End after so many entries: 1 to 1000000000.")
    var count: Int?

    @Option(help: "End after so many seconds: 1 to 3600 (an hour).")
    var seconds = 600

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...1_000_000_000).contains(count ?? 1) else { throw ValidationError("--count must be 1...1000000000") }
        guard (1...Self.longest).contains(seconds) else {
            throw ValidationError("--seconds must be 1...\(Self.longest)")
        }
    }

    func run() async throws {
        try await Failure.reported {
            OutputLine.survivesClosedPipes()
            try await Database.with { pool in
                guard try await AppStore(pool: pool).find(user.app) != nil else { throw AppCommand.unknown(user.app) }
                try await AuditStore(pool: pool).note(.trace(seconds: seconds), to: user.key)
            }
            try await ControlRedis.withConnection { try await follow(over: $0) }
        }
    }

    /// Shows entries until the time is over, enough have come, or a signal ends it.
    private func follow(over redis: RedisClient) async throws {
        let id = SecureRandom.hex(bytes: 8)
        let (entries, entered) = AsyncStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingNewest(Self.waitingEntries))
        let subscriber = ClusterSubscriber(
            redis, logger: Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() },
            callbacks: .init(onMessage: { entered.yield(Array($1.readableBytesView)) }))
        subscriber.start()
        do {
            try await subscribe(subscriber, to: KeySpace.topic(ofTrace: id, of: user.key))
            try await order(id, over: redis)
            OutputLine.note("following \(user.account) of \(user.app)")
            try await show(entries, of: id, over: redis)
        } catch {
            await subscriber.close()
            throw error
        }
        await subscriber.close()
    }

    private func subscribe(_ subscriber: ClusterSubscriber, to topic: String) async throws {
        let result: Result<Void, RedisError> = await withCheckedContinuation { done in
            subscriber.eventLoop.execute { subscriber.subscribe(topic) { done.resume(returning: $0) } }
        }
        try result.get()
    }

    private func show(_ entries: AsyncStream<[UInt8]>, of id: String, over redis: RedisClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await show(entries) }
            tasks.addTask { await StopSignal.wait() }
            tasks.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            tasks.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(Self.orderPause))
                    // What cannot be ordered now is ordered at the next turn; gateways go on for a while.
                    try? await order(id, over: redis)
                }
            }
            try await tasks.next()
            tasks.cancelAll()
        }
    }

    private func show(_ entries: AsyncStream<[UInt8]>) async {
        var left = count
        for await bytes in entries {
            guard let entry = try? TraceEntry(payload: bytes) else { continue }
            let lines = output.json ? [entry.json.compactText] : entry.lines
            guard lines.allSatisfy(OutputLine.write) else { return }
            left = left.map { $0 - 1 }
            if left == 0 { return }
        }
    }

    /// Orders all gateways to tell, for a while.
    private func order(_ id: String, over redis: RedisClient) async throws {
        let event = GatewayEvent.trace(TraceOrder(id: id, seconds: Self.orderLife, user: user.key))
        let gateways = try await GatewayLeases(connection: redis).list()
        let results = await redis.execute(
            gateways.map {
                RedisCommand(redis.bus.publishing, key: redis.bus.topic(of: $0, for: user.key), .bytes(event.payload))
            })
        for result in results { _ = try result.get() }
    }
}

extension TraceEntry: Printable {
    var members: [JSONMember] {
        [JSONMember("time", time), JSONMember("gateway", gateway.rawValue), JSONMember("entry", text)]
    }

    var lines: [String] { ["\(Output.time(milliseconds: time))  \(gateway)  \(text.visible)"] }
}
