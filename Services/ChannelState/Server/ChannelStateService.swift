internal import ChannelStateLogic
public import Logging
internal import MessageStore
internal import NIOCore
internal import NIOPosix
public import PostgresStore
public import RedisStore
public import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol
internal import SignalingWire

/// The channel-state service: channels' members and attributes.
public enum ChannelStateService {
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
            libraries: ChannelFunctions.libraries + [MessageStore.library, DueTimers.library], logger: logger)
        let timers = DueTimers(service: .channelState, connection: connection)
        let handlers = Handlers(connection: connection, pool: pool, timers: timers, logger: logger)
        let commands = CommandConsumer(
            service: .channelState, instance: instance, configuration: redis, connection: connection,
            router: handlers.router, logger: logger)
        let store = MirrorStore(pool: pool)
        let mirror = MirrorConsumer(
            service: .channelState, instance: instance, configuration: redis, connection: connection, logger: logger
        ) { readers in
            try await store.members(MemberMirror.rows(readers, logger: logger))
        }
        return ServiceAssembly(
            services: [
                StoreConnections(redis: connection, pool: pool),
                TimerService(timers: timers, expiry: handlers.expiry), mirror, commands,
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
    let expiry: ChannelExpiry

    init(connection: RedisConnection, pool: PostgresPool, timers: DueTimers, logger: Logger) {
        let functions = ChannelFunctions(connection: connection)
        let store = AttributeStore(pool: pool)
        let cache = ChannelAttributeCache(functions: functions, store: store)
        let changes = Batcher<ChannelAttributeChange, Int64> { batch throws(PostgresError) in
            try await store.changeChannelAttributes(batch)
        }
        let counters = ChannelCounters(functions: functions, timers: timers)
        let membership = MembershipHandler(
            functions: functions, attributes: cache, messages: MessageStore(connection: connection), timers: timers,
            counters: counters, logger: logger)
        let attributes = ChannelAttributeHandler(
            functions: functions, cache: cache, changes: changes, timers: timers, counters: counters)
        let reassertion = MembershipReassertion(
            functions: functions, attributes: cache, counters: counters, logger: logger)
        let queries = MemberQueries(functions: functions)
        var router = CommandRouter()
        router.on(JoinChannel.self, membership.join)
        router.on(LeaveChannel.self, membership.leave)
        router.on(ChangeChannelAttributes.self, attributes.change)
        router.on(CountMembers.self, queries.count)
        router.on(QueryMember.self, queries.contains)
        router.on(ListMembers.self, queries.list)
        router.on(ReassertMembers.self, reassertion.reassert)
        self.router = router
        expiry = ChannelExpiry(
            functions: functions, cache: cache, changes: changes, timers: timers, counters: counters, logger: logger)
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
    let expiry: ChannelExpiry

    func run() async throws { await timers.run { try await expiry.fired($0) } }
}
