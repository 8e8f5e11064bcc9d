import BusProtocol
import ClusterService
import ClusterState
import Logging
import MessageStore
import NIOCore
import NIOPosix
import PostgresStore
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer
@testable import PresenceServer

/// Presence and channel-state over a real Redis and PostgreSQL, with stand-ins for gateways.
actor ServicesStage {
    nonisolated let redis: RedisServer
    nonisolated let postgres: PostgresServer
    nonisolated let postgresURL: String
    nonisolated let pool: PostgresPool
    /// The test's own connection, to inspect Redis.
    nonisolated let connection: RedisClient
    nonisolated let app: AppID
    private var groups: [ServiceGroup] = []
    private var tasks: [Task<Void, any Error>] = []
    private var gateways: [StageGateway] = []
    /// Lets the services' answers from Redis lag behind.
    private let proxy: LaggingProxy?

    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Runs a test with a new stage.
    /// - Parameters:
    ///   - instances: the number of instances of each service.
    ///   - ownPostgres: whether the test needs a PostgreSQL of its own, because it stops it.
    ///   - mirrors: whether sessions and members are copied into PostgreSQL.
    ///   - lag: how late Redis' answers arrive at the services.
    static func run(
        instances: Int = 2, ownPostgres: Bool = false, mirrors: Bool = true, lag: Duration? = nil,
        _ test: (ServicesStage) async throws -> Void
    ) async throws {
        let postgres = ownPostgres ? try await PostgresServer() : try await PostgresServer.shared
        let stage = try await ServicesStage(postgres, lag: lag)
        let result: Result<Void, any Error>
        do {
            for _ in 0..<instances { try await stage.startInstance(mirrors: mirrors) }
            result = .success(try await test(stage))
        } catch {
            result = .failure(error)
        }
        await stage.end()
        if ownPostgres { try await postgres.remove() }
        try result.get()
    }

    private init(_ postgres: PostgresServer, lag: Duration?) async throws {
        self.postgres = postgres
        redis = try await RedisServer(appendOnly: false)
        if let lag {
            proxy = try await LaggingProxy(to: redis.port, delay: lag)
        } else {
            proxy = nil
        }
        postgresURL = try await postgres.createDatabase()
        pool = PostgresPool(
            configuration: try PostgresConfiguration(url: postgresURL), connections: 1, logger: Self.silent)
        _ = try await Migrations(pool: pool, level: ClusterLevel.current).apply()
        app = try AppID("app:{1}")
        connection = RedisClient(
            configuration: try Self.patient(redis.url), eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [.messages, .leases, .timers, .streams, .presence, .channels, .memberships], logger: Self.silent)
        connection.start()
    }

    /// Long timeouts: no test here loses a connection on purpose, so that what takes long is only slow.
    private static func patient(_ url: String) throws -> RedisConfiguration {
        var configuration = try RedisConfiguration(url: url)
        configuration.commandTimeout = configuration.commandTimeout * patience
        return configuration
    }

    private func startInstance(mirrors: Bool) async throws {
        let logger = Self.silent
        var presenceSettings = PresenceConfiguration()
        presenceSettings.mirrors = mirrors
        var channelSettings = ChannelStateConfiguration()
        channelSettings.mirrors = mirrors
        let configuration = try PostgresConfiguration(url: postgresURL)
        let url = proxy.map { "redis://127.0.0.1:\($0.port)" } ?? redis.url
        let presence = try await ServiceRuntime.assemble(
            PresenceService(presenceSettings), instance: "presence-\(groups.count)",
            redis: try Self.patient(url),
            pool: PostgresPool(configuration: configuration, connections: 2, logger: logger), logger: logger)
        let channels = try await ServiceRuntime.assemble(
            ChannelStateService(channelSettings), instance: "channel-state-\(groups.count)",
            redis: try Self.patient(url),
            pool: PostgresPool(configuration: configuration, connections: 2, logger: logger), logger: logger)
        for services in [presence.services, channels.services] {
            let group = ServiceGroup(services: services, logger: logger)
            groups.append(group)
            tasks.append(Task { try await group.run() })
        }
    }

    private func end() async {
        for group in groups { await group.triggerGracefulShutdown() }
        for task in tasks { _ = await task.result }
        for gateway in gateways { await gateway.close() }
        await connection.close()
        await pool.close()
        try? await proxy?.close()
        try? await redis.remove()
    }

    /// Starts a stand-in for a gateway, with a lease.
    func gateway(_ name: String) async throws -> StageGateway {
        let gateway = try await StageGateway(GatewayID("\(name)-\(SecureRandom.hex(bytes: 3))"), redis: redis)
        gateways.append(gateway)
        _ = try await gateway.leases.heartbeat(gateway.id, .ofTest)
        return gateway
    }

    nonisolated func user(_ account: String) throws -> UserKey { UserKey(app: app, account: try Account(account)) }

    nonisolated func channel(_ name: String) throws -> ChannelKey { ChannelKey(app: app, name: try ChannelName(name)) }

    nonisolated func login(_ account: String, on gateway: StageGateway) async throws -> StageSession {
        let line = Line(
            user: try user(account), session: SessionID("s-\(SecureRandom.hex(bytes: 6))"),
            secret: SecureRandom.hex(bytes: Line.secretBytes))
        var open = OpenSession(gateway: gateway.id, line: line, device: "test", push: false)
        open.address = StageSession.address
        let opened = try await gateway.send(open)
        return StageSession(line: line, uid: opened.uid, hold: opened.hold)
    }

    /// Starts a gateway that listens to the channel `room`, and has Alice log in there and join.
    func roomWithAlice() async throws -> (gateway: StageGateway, room: ChannelKey, alice: StageSession) {
        let gateway = try await gateway("g1")
        let room = try channel("room")
        try await gateway.listen(to: room)
        let alice = try await login("alice", on: gateway)
        _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
        return (gateway, room, alice)
    }

    /// Sends a plain command to Redis and returns its reply.
    nonisolated func redis(_ name: String, _ arguments: String...) async throws -> RedisValue {
        try await connection.execute(RedisCommand(name, arguments: arguments.map { .string($0) }))
    }

    /// Reads a field of a user's session record.
    nonisolated func sessionField(_ account: String, _ field: String) async throws -> String? {
        try await redis("HGET", KeySpace.tag(try user(account)) + ":session", field).string
    }

    /// Waits until a query with one column returns exactly these rows.
    nonisolated func expectRows(_ sql: String, _ rows: [String]) async throws {
        try await waitUntil(sql) {
            let found = try await self.pool.query(sql).map { try $0.string("line") }
            return found == rows ? nil : "\(found)"
        }
    }
}

/// A session, with what a test needs to act in it.
struct StageSession {
    /// What its client connects from.
    static let address = "203.0.113.7"

    var line: Line
    var uid: UInt32
    var hold: SessionHold

    /// The session in the form in which its gateway reasserts it.
    func held(moveNumber: Int64 = 0, channel: ChannelName? = nil) -> HeldSession {
        var held = HeldSession(line: line, uid: uid, device: "test", push: false)
        held.hold = hold
        held.place = HeldPlace(moveNumber: moveNumber, channel: channel)
        held.address = Self.address
        return held
    }

    /// The session's user in the form in which a member is reasserted.
    var member: HeldMember {
        HeldMember(member: Member(account: line.user.account, uid: uid), session: line.session)
    }

    var actor: BusProtocol.Actor {
        BusProtocol.Actor(user: line.user, uid: uid, session: line.session)
    }

    /// The command that sets an attribute of the user.
    func setting(_ attribute: Attribute) -> SetUserAttribute {
        SetUserAttribute(user: line.user, session: line.session, attribute: attribute)
    }
}
