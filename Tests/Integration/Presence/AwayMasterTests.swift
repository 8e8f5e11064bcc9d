import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import NIOPosix
import PostgresStore
import PresenceLogic
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer
@testable import PresenceServer

/// Acts of users while a master of a Redis Cluster is away that has nothing of theirs: only the app's special
/// channels and the gateway's lease.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AwayMasterTests {
    /// Less than a command waits for its master, and more than a busy machine takes.
    private static let bound = Duration.seconds(6)

    /// The first of a series of subjects that is at a master, counted from 0, of three.
    static func first<Subject>(
        atMaster master: Int, _ make: (Int) throws -> Subject, slot: (Subject) -> UInt16
    ) throws -> Subject {
        for number in 0..<10_000 {
            let subject = try make(number)
            if Int(slot(subject)) * 3 / 16_384 == master { return subject }
        }
        throw TestFailure("no subject")
    }

    private static func special(_ app: AppID, _ name: String) throws -> UInt16 {
        KeySpace.slot(of: .channel(ChannelKey(app: app, name: try ChannelName(name))))
    }

    /// An app whose special channels are at the first master.
    private static func app() throws -> AppID {
        for number in 0..<10_000 {
            let app = try AppID("app\(number)")
            let slots = [try special(app, "_agora_user_online"), try special(app, "_agora_channel_event")]
            if slots.allSatisfy({ Int($0) * 3 / 16_384 == 0 }) { return app }
        }
        throw TestFailure("no app")
    }

    static func sessions(_ redis: RedisClient) -> SessionHandler {
        let functions = PresenceFunctions(redis: redis, mirror: PresenceMirror(isOn: true, bus: redis.bus))
        let logger = ServicesStage.silent
        let timers = ServiceTimers<PresenceTimer>(service: .presence, connection: redis, logger: logger)
        return SessionHandler(
            functions: functions, ending: SessionEnding(functions: functions, timers: timers, logger: logger),
            logins: Batcher { users throws(PostgresError) in
                users.map { _ in UserLogin(uid: 7, attributes: VersionedAttributes(version: 1, attributes: [])) }
            },
            timers: timers, logger: logger)
    }

    private static func membership(_ redis: RedisClient, _ pool: PostgresPool) -> MembershipHandler {
        let functions = ChannelFunctions(redis: redis, mirror: MemberMirror(isOn: true, bus: redis.bus))
        let logger = ServicesStage.silent
        let counters = ChannelCounters(
            functions: functions, timers: ServiceTimers(service: .channelState, connection: redis, logger: logger))
        let attributes = ChannelAttributeCache(functions: functions, store: AttributeStore(pool: pool))
        return MembershipHandler(
            functions: functions, attributes: attributes, timers: counters.timers, counters: counters,
            reassertion: MembershipReassertion(
                functions: functions, attributes: attributes, timers: counters.timers, counters: counters,
                logger: logger),
            logger: logger)
    }

    /// A client of a cluster, connected to all masters.
    static func client(of scene: RedisClusterScene) async throws -> RedisClient {
        let redis = try RedisClient(
            url: scene.servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [.presence, .memberships, .channels, .messages, .leases, .timers, .streams, .instances],
            logger: ServicesStage.silent)
        redis.start()
        try await waitUntil("the cluster") { await redis.checkReadiness() == .ready ? nil : "not ready" }
        return redis
    }

    /// A PostgreSQL that is not there.
    static func noPostgres() throws -> PostgresPool {
        PostgresPool(
            configuration: try PostgresConfiguration(url: "postgresql://127.0.0.1:1/none"), connections: 1,
            logger: ServicesStage.silent)
    }

    private static func user(of app: AppID, atMaster master: Int) throws -> UserKey {
        try first(
            atMaster: master, { UserKey(app: app, account: try Account("user\($0)")) },
            slot: { KeySpace.slot(of: .user($0)) })
    }

    private static func gateway(atMaster master: Int) throws -> GatewayID {
        try first(atMaster: master, { GatewayID("g\($0)") }, slot: { KeySpace.slot(of: .gateway($0)) })
    }

    private static func killFirst(_ scene: RedisClusterScene, _ redis: RedisClient) async throws {
        try await scene.servers.servers[0].kill()
        try await waitUntil("the outage") { await redis.checkReadiness() == .ready ? "ready" : nil }
    }

    @Test func loginsJoinsAndLeavesDoNotWait() async throws {
        try await RedisClusterScene.run { scene in
            let redis = try await Self.client(of: scene)
            let app = try Self.app()
            let user = try Self.user(of: app, atMaster: 1)
            let room = try Self.first(atMaster: 2, { ChannelKey(app: app, name: try ChannelName("room\($0)")) }) {
                KeySpace.slot(of: .channel($0))
            }
            let gateway = try Self.gateway(atMaster: 0)
            _ = try await redis.execute(RedisCommand("SET", key: ChannelKeys(room).attributesVersion, "1"))
            let pool = try Self.noPostgres()
            let (sessions, membership) = (Self.sessions(redis), Self.membership(redis, pool))

            try await Self.killFirst(scene, redis)
            let start = ContinuousClock.now
            let line = Line(user: user, session: SessionID("s"), secret: TestLine.secret)
            let opened = try await sessions.open(
                OpenSession(gateway: gateway, line: line, device: "test", push: false),
                CommandContext(id: CommandID("login")))
            // Nobody knows whether it is heard, nor whether the gateway lives: both are
            // seen to when the master is back.
            #expect(opened.then.count == 3)
            let actor = Actor(user: user, uid: opened.reply.uid, session: line.session)
            let joined = try await membership.join(
                JoinChannel(actor: actor, channel: room.name), CommandContext(id: CommandID("join")))
            #expect(joined.then.count == 2)
            let left = try await membership.leave(
                LeaveChannel(actor: actor, channel: room.name, reason: .leaveByUser),
                CommandContext(id: CommandID("leave")))
            #expect(left.then.count == 1)
            #expect(start.duration(to: .now) < Self.bound * patience)
            await redis.close()
            await pool.close()
        }
    }

    private static func hasTimer(_ timer: PresenceTimer, _ redis: RedisClient) async throws -> Bool {
        let key = KeySpace.due(.presence, in: redis.bus.partition(of: timer.subject))
        return try await !redis.execute(RedisCommand("ZSCORE", key: key, .string(timer.member))).isNull
    }

    /// The end of a session is announced in a special channel, and makes the user leave a
    /// channel: both may be at other masters.
    @Test func logoutsAndLoginsInPlaceOfAnotherDoNotWait() async throws {
        try await RedisClusterScene.run { scene in
            let redis = try await Self.client(of: scene)
            let app = try Self.app()
            let user = try Self.user(of: app, atMaster: 1)
            let gateway = try Self.gateway(atMaster: 1)
            let sessions = Self.sessions(redis)
            func open(_ name: String) async throws {
                let line = Line(user: user, session: SessionID(name), secret: TestLine.secret)
                _ = try await sessions.open(
                    OpenSession(gateway: gateway, line: line, device: "test", push: false),
                    CommandContext(id: CommandID("login \(name)")))
            }
            try await open("s1")
            try await Self.killFirst(scene, redis)
            let start = ContinuousClock.now
            try await open("s2")
            _ = try await sessions.close(
                CloseSession(user: user, session: SessionID("s2"), reason: .leaveLogout),
                CommandContext(id: CommandID("logout")))
            #expect(start.duration(to: .now) < Self.bound * patience)
            // Its timer sees to it that everything is done when the master is back.
            #expect(try await Self.hasTimer(.session(user, SessionID("s2")), redis))
            // The logout is still to be announced; what the replaced session left behind was at other masters.
            let unfinished = RedisCommand("HKEYS", key: KeySpace.tag(user) + ":ending")
            #expect(try await redis.execute(unfinished).array?.map(\.string) == ["s2"])
            try await waitUntil("nothing to be left to the first session's timer") {
                try await Self.hasTimer(.session(user, SessionID("s1")), redis) ? "it is set" : nil
            }
            // Nor does the timer wait, for which others wait.
            let due = try await sessions.functions.due(user, SessionID("s2"), since: nil)
            guard case .ended(let ended) = due else { throw TestFailure("not ended") }
            let fired = ContinuousClock.now
            let isDone = await sessions.ending.begin(ended, of: user)
            #expect(!isDone)
            #expect(fired.duration(to: .now) < Self.bound * patience)
            await redis.close()
        }
    }

    /// The buckets of the master that is away come first in the search for a lost gateway's sessions.
    @Test func sessionsOfALostGatewayAtOtherMastersAreDetached() async throws {
        try await RedisClusterScene.run { scene in
            let redis = try await Self.client(of: scene)
            let (user, gateway) = (try Self.user(of: Self.app(), atMaster: 2), try Self.gateway(atMaster: 1))
            let pool = try Self.noPostgres()
            let presence = try await ServiceRuntime.assemble(
                PresenceService(), instance: "presence", redis: try RedisConfiguration(url: scene.servers.url),
                pool: pool, logger: ServicesStage.silent)
            let group = ServiceGroup(services: presence.services, logger: ServicesStage.silent)
            async let running: Void = group.run()
            try await waitUntil("presence") {
                try await redis.execute(RedisCommand("ZCARD", key: KeySpace.instances)).int == 1 ? nil : "not running"
            }
            _ = try await Self.sessions(redis).open(
                OpenSession(
                    gateway: gateway, line: Line(user: user, session: SessionID("s"), secret: TestLine.secret),
                    device: "test",
                    push: false), CommandContext(id: CommandID("login")))
            try await Self.killFirst(scene, redis)
            let timer = PresenceTimer.gateway(gateway)
            let due = KeySpace.due(.presence, in: redis.bus.partition(of: timer.subject))
            _ = try await redis.execute(RedisCommand("ZADD", key: due, 0, .string(timer.member)))
            try await waitUntil("the detachment") {
                let state = try await redis.execute(RedisCommand("HGET", key: UserKeys(user).session, "state")).string
                return state == "detached" ? nil : "\(state ?? "none")"
            }
            await group.triggerGracefulShutdown()
            try await running
            await redis.close()
        }
    }
}
