internal import InvitationLogic
public import Logging
internal import MessageStore
public import PostgresStore
public import RedisStore
public import ServiceKit
internal import ServiceLifecycle
internal import ServiceStores
internal import SignalingProtocol

/// The invitation service: calls, their timers, and the call log.
///
/// Any number of instances share the work; all state is in Redis, and the call log in PostgreSQL.
public enum InvitationService {
    private static let libraries = [CallRecordStore.library, MessageStore.library, DueTimers.library]

    /// Builds the service from its settings.
    /// - Throws: as ``ServiceStores`` does.
    public static func assemble(
        _ context: ServiceContext, _ configuration: InvitationConfiguration
    ) async throws -> ServiceAssembly {
        let stores = try await ServiceStores(
            context, libraries: libraries, postgresConnections: configuration.postgresConnections)
        return assemble(
            configuration, instance: context.configuration.instance, stores: stores, logger: context.logger)
    }

    /// Builds the service around given stores, for one process or a test.
    /// - Parameter instance: this process among its kind.
    public static func assemble(
        _ configuration: InvitationConfiguration, instance: String, redis: RedisConfiguration, pool: PostgresPool,
        logger: Logger
    ) -> ServiceAssembly {
        let stores = ServiceStores(redis: redis, libraries: libraries, pool: pool, logger: logger)
        return assemble(configuration, instance: instance, stores: stores, logger: logger)
    }

    private static func assemble(
        _ configuration: InvitationConfiguration, instance: String, stores: ServiceStores, logger: Logger
    ) -> ServiceAssembly {
        let redis = stores.redis
        let timers = DueTimers(service: .invitation, connection: redis)
        let records = CallRecordStore(connection: redis)
        let driver = CallDriver(
            records: records, messages: MessageStore(connection: redis), timers: timers,
            log: CallLogStream(connection: redis), durations: configuration.durations, logger: logger)
        let handler = CallHandler(driver: driver, records: records)
        var router = CommandRouter()
        router.on(CallAct.self) { command, context throws(SignalingError) in try await handler.act(command, context) }
        router.on(EndSessionCalls.self) { command, context throws(SignalingError) in
            try await handler.endCalls(command, context)
        }
        let commands = CommandConsumer(
            service: .invitation, instance: instance, configuration: stores.redisConfiguration, connection: redis,
            router: router, logger: logger)
        let store = CallStore(pool: stores.pool)
        let mirror = MirrorConsumer(
            service: .invitation, instance: instance, configuration: stores.redisConfiguration, connection: redis,
            logger: logger
        ) { entries in
            try await CallLogStream.copy(entries, to: store, logger)
        }
        let acting = TimerService(timers: timers, handler: handler)
        return ServiceAssembly(services: [stores, acting, mirror, commands], checks: stores.checks)
    }
}

private struct TimerService: Service {
    let timers: DueTimers
    let handler: CallHandler

    func run() async throws { await timers.run { try await handler.fire($0.member) } }
}
