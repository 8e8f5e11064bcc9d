internal import ClusterState
package import Logging
internal import MessageStore
internal import NIOCore
package import PostgresStore
internal import PresenceLogic
package import RedisStore
package import ServiceKit
internal import ServiceLifecycle
internal import ServiceStores
internal import SignalingProtocol
internal import SignalingWire

/// The presence service: users' sessions and attributes, settings of apps, and the watch over gateways.
package enum PresenceService {
    private static let libraries: [RedisFunctionLibrary] = [
        .presence, .messages, .leases, .timers, .streams,
    ]

    /// Builds the service from its settings.
    /// - Throws: as ``ServiceStores`` does.
    package static func assemble(_ context: ServiceContext) async throws -> ServiceAssembly {
        let stores = try await ServiceStores(context, libraries: libraries, postgresConnections: 4)
        return assemble(instance: context.configuration.instance, stores: stores, logger: context.logger)
    }

    /// Builds the service around given stores, for one process or a test.
    /// - Parameter instance: this process among its kind.
    package static func assemble(
        instance: String, redis: RedisConfiguration, pool: PostgresPool, logger: Logger
    ) -> ServiceAssembly {
        let stores = ServiceStores(redis: redis, libraries: libraries, pool: pool, logger: logger)
        return assemble(instance: instance, stores: stores, logger: logger)
    }

    private static func assemble(instance: String, stores: ServiceStores, logger: Logger) -> ServiceAssembly {
        let timers = DueTimers(service: .presence, connection: stores.redis)
        let uptime = RedisUptime(connection: stores.redis)
        let handlers = Handlers(
            connection: stores.redis, pool: stores.pool, timers: timers, uptime: uptime, logger: logger)
        let commands = CommandConsumer(
            service: .presence, instance: instance, configuration: stores.redisConfiguration, connection: stores.redis,
            router: handlers.router, logger: logger)
        let mirror = MirrorConsumer(
            service: .presence, instance: instance, configuration: stores.redisConfiguration, connection: stores.redis,
            logger: logger, handler: PresenceMirror.copier(into: MirrorStore(pool: stores.pool), logger: logger))
        let acting = TimerService(timers: timers, handler: handlers.timers)
        let check = handlers.mirrorCheck
        let rounds = ExclusiveRounds(
            "presence-mirror", every: .seconds(60), connection: stores.redis, logger: logger
        ) { renew in try await check.round(renew) }
        return ServiceAssembly(services: [stores, uptime, acting, mirror, rounds, commands], checks: stores.checks)
    }
}

/// The parts that handle commands and timers.
private struct Handlers {
    let router: CommandRouter
    let timers: PresenceTimerHandler
    let mirrorCheck: SessionMirrorCheck

    init(
        connection: RedisConnection, pool: PostgresPool, timers: DueTimers, uptime: RedisUptime, logger: Logger
    ) {
        let functions = PresenceFunctions(connection: connection)
        let store = AttributeStore(pool: pool)
        let users = UserStore(pool: pool)
        let cache = UserAttributeCache(
            functions: functions,
            store: Batcher { users throws(PostgresError) in try await store.userAttributes(users) },
            versions: store)
        let ending = SessionEnding(functions: functions, logger: logger)
        // In a storm of logins a statement for many costs little more than one for one.
        let logins = Batcher<UserKey, UserLogin>(gathering: .milliseconds(10)) { keys throws(PostgresError) in
            try await users.logins(of: keys)
        }
        let sessions = SessionHandler(
            functions: functions, ending: ending, logins: logins, timers: timers, logger: logger)
        let changes = Batcher<UserAttributeChange, Int64> { batch throws(PostgresError) in
            try await store.changeUserAttributes(batch)
        }
        let attributes = UserAttributeHandler(
            functions: functions, cache: cache, changes: changes, sessions: sessions)
        let reassertion = SessionReassertion(
            functions: functions, ending: ending, sessions: sessions, logger: logger)
        let apps = AppDirectory(store: AppStore(pool: pool))
        var router = CommandRouter()
        router.onFollowed(OpenSession.self, sessions.open)
        router.on(ResumeSession.self, sessions.resume)
        router.on(DetachSession.self, sessions.detach)
        router.on(CloseSession.self, sessions.close)
        router.on(DisconnectUser.self, sessions.disconnect)
        router.on(QueryUserStatus.self, sessions.status)
        router.on(ReassertSessions.self, reassertion.reassert)
        router.on(SetUserAttribute.self, attributes.set)
        router.on(GetUserAttribute.self, attributes.get)
        router.on(ListUserAttributes.self, attributes.list)
        router.on(GetApp.self) { command, _ async throws(SignalingError) in
            try await apps.settings(of: command.app)
        }
        self.router = router
        let gateways = GatewayWatch(
            functions: functions, leases: GatewayLeases(connection: connection), uptime: uptime, sessions: sessions,
            logger: logger)
        mirrorCheck = SessionMirrorCheck(
            functions: functions, store: MirrorStore(pool: pool), ending: ending, uptime: uptime)
        self.timers = PresenceTimerHandler(
            functions: functions, ending: ending, cache: cache, gateways: gateways, uptime: uptime, timers: timers,
            logger: logger)
    }
}

private struct TimerService: Service {
    let timers: DueTimers
    let handler: PresenceTimerHandler

    func run() async throws { await timers.run { try await handler.fired($0) } }
}
