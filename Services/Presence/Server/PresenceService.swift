public import Logging
internal import MessageStore
internal import NIOCore
internal import NIOPosix
public import PostgresStore
internal import PresenceLogic
public import RedisStore
public import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol
internal import SignalingWire

/// The presence service: users' sessions and attributes, settings of apps, and the watch over gateways.
public enum PresenceService {
    /// Builds the service from its settings.
    /// - Throws: `RedisError` or `PostgresError` for settings that cannot be used, and for a database whose migrations
    ///   are not this build's. A database that is away stops nothing.
    public static func assemble(_ context: ServiceContext) async throws -> ServiceAssembly {
        let redis = try RedisConfiguration(url: context.configuration.redisURL)
        let postgres = try PostgresConfiguration(url: context.configuration.postgresURL)
        let pool = PostgresPool(configuration: postgres, connections: 4, logger: context.logger)
        do throws(PostgresError) {
            try await Migrations(pool: pool).check()
        } catch {
            guard error.kind != .migration else { throw error }
            context.logger.warning("started without PostgreSQL", metadata: ["error": "\(error)"])
        }
        return assemble(
            instance: context.configuration.instance, redis: redis, pool: pool, logger: context.logger)
    }

    /// Builds the service around given stores, for one process or a test.
    /// - Parameter instance: this process among its kind.
    public static func assemble(
        instance: String, redis: RedisConfiguration, pool: PostgresPool, logger: Logger
    ) -> ServiceAssembly {
        let connection = RedisConnection(
            configuration: redis, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [
                PresenceFunctions.library, MessageStore.library, GatewayLeases.library, DueTimers.library,
            ],
            logger: logger)
        let timers = DueTimers(service: .presence, connection: connection)
        let handlers = Handlers(connection: connection, pool: pool, timers: timers, logger: logger)
        let commands = CommandConsumer(
            service: .presence, instance: instance, configuration: redis, connection: connection,
            router: handlers.router, logger: logger)
        let mirror = MirrorConsumer(
            service: .presence, instance: instance, configuration: redis, connection: connection, logger: logger,
            handler: PresenceMirror.copier(into: MirrorStore(pool: pool), logger: logger))
        return ServiceAssembly(
            services: [
                StoreConnections(redis: connection, pool: pool),
                TimerService(timers: timers, handler: handlers.timers), mirror, commands,
            ],
            checks: [
                ReadinessCheck(name: "redis") {
                    do throws(RedisError) {
                        _ = try await connection.execute(RedisCommand("PING"))
                        return nil
                    } catch {
                        return error.description
                    }
                },
                ReadinessCheck(name: "postgres") {
                    do throws(PostgresError) {
                        try await pool.ping()
                        return nil
                    } catch {
                        return error.description
                    }
                },
            ])
    }
}

/// The parts that handle commands and timers.
private struct Handlers {
    let router: CommandRouter
    let timers: PresenceTimerHandler

    init(connection: RedisConnection, pool: PostgresPool, timers: DueTimers, logger: Logger) {
        let functions = PresenceFunctions(connection: connection)
        let messages = MessageStore(connection: connection)
        let store = AttributeStore(pool: pool)
        let users = UserStore(pool: pool)
        let cache = UserAttributeCache(functions: functions, store: store)
        let ending = SessionEnding(functions: functions, messages: messages, logger: logger)
        let numbers = Batcher<UserKey, UInt32> { keys throws(PostgresError) in
            let uids = try await users.uids(for: keys)
            return keys.map { uids[$0] ?? 0 }
        }
        let sessions = SessionHandler(
            functions: functions, ending: ending, attributes: cache, numbers: numbers, messages: messages,
            timers: timers, logger: logger)
        let changes = Batcher<UserAttributeChange, Int64> { batch throws(PostgresError) in
            try await store.changeUserAttributes(batch)
        }
        let attributes = UserAttributeHandler(
            functions: functions, cache: cache, changes: changes, sessions: sessions)
        let reassertion = SessionReassertion(functions: functions, logger: logger)
        let apps = AppDirectory(store: AppStore(pool: pool))
        var router = CommandRouter()
        router.on(OpenSession.self, sessions.open)
        router.on(ResumeSession.self, sessions.resume)
        router.on(DetachSession.self, sessions.detach)
        router.on(CloseSession.self, sessions.close)
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
            functions: functions, leases: GatewayLeases(connection: connection), sessions: sessions, logger: logger)
        self.timers = PresenceTimerHandler(
            functions: functions, ending: ending, cache: cache, gateways: gateways, timers: timers, logger: logger)
    }
}

/// Opens the stores first and closes them last.
private struct StoreConnections: Service {
    let redis: RedisConnection
    let pool: PostgresPool

    func run() async throws {
        redis.start()
        // Ends by an error when cancelled instead; the stores are to be closed all the same.
        try? await gracefulShutdown()
        await redis.close()
        await pool.close()
    }
}

private struct TimerService: Service {
    let timers: DueTimers
    let handler: PresenceTimerHandler

    func run() async throws { await timers.run { try await handler.fired($0) } }
}
