import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import InvitationServer
import Logging
import MessageStore
import NIOCore
import NIOPosix
import PostgresStore
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

/// Instances of the service over a real Redis and PostgreSQL. The stage stands in for a gateway, which sends
/// commands, and for presence, which keeps the session records.
actor InvitationStage {
    /// A mailbox entry about a call.
    struct Mail: Equatable, CustomStringConvertible {
        var type: String
        var source: String
        var content: JSONValue

        var extra: String { content["extra"]?.string ?? "-" }
        var peer: String { content["peer"]?.string ?? "-" }
        var description: String { "\(type) from \(source): \(content.compactText)" }
    }

    nonisolated let redis: RedisServer
    nonisolated let pool: PostgresPool
    nonisolated let postgresURL: String
    nonisolated let connection: RedisClient
    nonisolated let messages: MessageStore
    nonisolated let app: AppID
    nonisolated let channel: ChannelName
    private nonisolated let subscriber: RedisSubscriber
    private nonisolated let sender: CommandSender
    private nonisolated let ringLimit: Duration
    private var instances: [(ServiceGroup, Task<Void, any Error>)] = []

    /// Runs a test with a new stage.
    /// - Parameters:
    ///   - instances: the number of instances of the service.
    ///   - postgres: a server of the test's own; nil: the shared one.
    static func run(
        instances: Int = 1, ringLimit: Duration = .seconds(60), postgres: PostgresServer? = nil,
        _ test: (InvitationStage) async throws -> Void
    ) async throws {
        let stage = try await InvitationStage(ringLimit: ringLimit, postgres: postgres)
        do {
            for _ in 0..<instances { try await stage.startInstance() }
            try await test(stage)
        } catch {
            await stage.end()
            throw error
        }
        await stage.end()
    }

    private init(ringLimit: Duration, postgres: PostgresServer?) async throws {
        self.ringLimit = ringLimit
        redis = try await RedisServer(appendOnly: false)
        let server = if let postgres { postgres } else { try await PostgresServer.shared }
        postgresURL = try await server.createDatabase()
        let logger = Self.silent
        pool = PostgresPool(
            configuration: try PostgresConfiguration(url: postgresURL), connections: 1, logger: logger)
        _ = try await Migrations(pool: pool, level: ClusterLevel.current).apply()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let connection = RedisClient(
            configuration: try redis.configuration, eventLoop: loop,
            libraries: [.messages, .leases, .streams],
            logger: logger)
        self.connection = connection
        messages = MessageStore(connection: connection)
        app = try AppID("app:{1}")
        channel = try ChannelName("a room")
        let gateway = GatewayID("gateway-\(SecureRandom.hex(bytes: 4))")
        let sender = CommandSender(sender: .gateway(gateway), connection: connection, logger: logger)
        self.sender = sender
        subscriber = RedisSubscriber(
            configuration: try redis.configuration, eventLoop: loop, logger: logger,
            callbacks: .init(onMessage: { _, payload in
                if case .reply(let id, let outcome)? = try? GatewayEvent(payload: payload.readableBytesView) {
                    sender.received(id, outcome)
                }
            }))
        connection.start()
        subscriber.start()
        let subscriber = self.subscriber
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            loop.execute {
                subscriber.subscribe(KeySpace.topic(gateway)) { done.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
    }

    private static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Starts another instance of the service.
    func startInstance() async throws {
        var configuration = InvitationConfiguration()
        configuration.ringLimit = ringLimit
        configuration.reconciliation = .seconds(1)
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: postgresURL), connections: 1, logger: Self.silent)
        let parts = try await ServiceRuntime.assemble(
            InvitationService(configuration), instance: "invitation-\(instances.count)",
            redis: try redis.configuration, pool: pool, logger: Self.silent)
        let group = ServiceGroup(services: parts.services, logger: Self.silent)
        instances.append((group, Task { try await group.run() }))
    }

    /// Ends all instances at once, as by a crash.
    func cancelInstances() async {
        for (_, run) in instances { run.cancel() }
        for (_, run) in instances { _ = await run.result }
        instances = []
    }

    /// Ends all instances in order.
    func stopInstances() async throws {
        for (group, _) in instances { await group.triggerGracefulShutdown() }
        for (_, run) in instances { try await run.value }
        instances = []
    }

    private func end() async {
        // The failure of an instance has already shown in the test.
        try? await stopInstances()
        await subscriber.close()
        await connection.close()
        await pool.close()
        try? await redis.remove()
    }

    // MARK: Presence

    /// Creates a session, as presence does at a login.
    func login(_ account: String, uid: UInt32 = 1, session: String? = nil) async throws -> Actor {
        let user = UserKey(app: app, account: try Account(account))
        let session = SessionID(session ?? "session-of-\(account)")
        let tag = KeySpace.tag(user)
        let version = try await connection.execute(RedisCommand("HGET", .string("\(tag):box"), "ver")).string ?? "0"
        _ = try await connection.execute(
            RedisCommand(
                "HSET", .string("\(tag):session"), "gateway", "gateway-of-users", "sid", .string(session.rawValue),
                "secret",
                "s", "uid", .int(uid), "state", "online", "push", "0", "openver", .string(version)))
        _ = try await connection.execute(
            RedisCommand("HSET", .string("\(tag):box"), "sid", .string(session.rawValue), "gateway", "gateway-of-users")
        )
        return Actor(user: user, uid: uid, session: session)
    }

    /// Removes a session and notifies the service, as presence does.
    func logout(_ actor: Actor) async throws {
        let tag = KeySpace.tag(actor.user)
        _ = try await connection.execute(RedisCommand("DEL", .string("\(tag):session")))
        _ = try await connection.execute(RedisCommand("HSET", .string("\(tag):box"), "sid", "", "gateway", ""))
        _ = try await send(EndSessionCalls(user: actor.user, session: actor.session))
    }

    // MARK: Commands

    func act(_ verb: CallVerb, by actor: Actor, to peer: String, _ extra: String = "") async throws {
        _ = try await send(CallAct(verb: verb, actor: actor, channel: channel, peer: peer, extra: extra))
    }

    /// The error that the act is refused with; nil when it succeeds.
    func refusal(_ verb: CallVerb, by actor: Actor, to peer: String, _ extra: String = "") async -> SignalingError? {
        do {
            try await act(verb, by: actor, to: peer, extra)
            return nil
        } catch {
            return error as? SignalingError
        }
    }

    func send<C: ServiceCommand>(_ command: C) async throws -> C.Reply {
        let sender = self.sender
        let connection = self.connection
        return try await withCheckedThrowingContinuation { (done: CheckedContinuation<C.Reply, any Error>) in
            connection.eventLoop.execute { sender.send(command) { done.resume(with: $0.mapError { $0 as any Error }) } }
        }
    }

    // MARK: Results

    /// The entries of a mailbox, which are not cleared.
    /// - Parameter fresh: whether to read as at the beginning of a login.
    func mail(of account: String, fresh: Bool = false) async throws -> [Mail] {
        let user = UserKey(app: app, account: try Account(account))
        let messages = self.messages
        let loop = connection.eventLoop
        // A mailbox can be read only in its user's session.
        let box = RedisArgument.string(KeySpace.tag(user) + ":box")
        var session = try await connection.execute(RedisCommand("HGET", box, "sid")).string ?? ""
        if session.isEmpty {
            session = "a look"
            _ = try await connection.execute(RedisCommand("HSET", box, "sid", "a look", "gateway", ""))
        }
        let fence = SessionFence(session: SessionID(session), gateway: GatewayID("gateway-of-users"))
        let page = try await withCheckedThrowingContinuation { (done: CheckedContinuation<MailboxPage, any Error>) in
            loop.execute {
                messages.readMailbox(user, in: fence, MailboxSection(after: 0, limit: 1000, fresh: fresh)) {
                    done.resume(with: $0.mapError { $0 as any Error })
                }
            }
        }
        return try page.entries.map { entry in
            let parts = entry.line.split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
            try #require(parts.count == 7 && parts[0] == "msg-v2")
            return Mail(
                type: String(parts[4]), source: String(parts[1]), content: try JSONValue.parse(Array(parts[6].utf8)))
        }
    }

    /// Waits until a mailbox holds exactly entries of these types.
    func expectMail(
        of account: String, _ types: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            try await waitUntil("mail of \(account)") {
                let found = try await self.mail(of: account)
                return found.map(\.type) == types ? nil : "\(found)"
            }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
            throw error
        }
    }

    /// Waits until the call log's rows are these: `callee end_code acknowledged? accepted?`.
    func expectLog(_ rows: [String]) async throws {
        try await waitUntil("the call log") {
            let found = try await self.pool.query(
                """
                SELECT callee || ' ' || coalesce(end_code::text, 'live')
                    || CASE WHEN acknowledged_at IS NULL THEN '' ELSE ' acknowledged' END
                    || CASE WHEN accepted_at IS NULL THEN '' ELSE ' accepted' END AS line
                FROM calls ORDER BY started_at
                """)
            let lines = try found.map { try $0.string("line") }
            return lines == rows ? nil : "\(lines)"
        }
    }
}
