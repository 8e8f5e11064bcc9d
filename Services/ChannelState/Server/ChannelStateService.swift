internal import ChannelStateLogic
internal import ClusterState
package import Logging
internal import MessageStore
internal import NIOCore
package import PostgresStore
package import RedisStore
package import ServiceKit
internal import ServiceLifecycle
internal import ServiceStores
internal import SignalingProtocol
internal import SignalingWire

/// The channel-state service: channels' members and attributes.
package enum ChannelStateService {
    private static let libraries: [RedisFunctionLibrary] =
        [.channels, .memberships, .messages, .timers, .streams]

    /// Builds the service from its settings.
    /// - Throws: as ``ServiceStores`` does.
    package static func assemble(
        _ context: ServiceContext, _ configuration: ChannelStateConfiguration
    ) async throws -> ServiceAssembly {
        let stores = try await ServiceStores(context, libraries: libraries, postgresConnections: 4)
        return assemble(
            instance: context.configuration.instance, stores: stores, configuration: configuration,
            logger: context.logger)
    }

    /// Builds the service around given stores, for one process or a test.
    /// - Parameter instance: this process among its kind.
    package static func assemble(
        instance: String, redis: RedisConfiguration, pool: PostgresPool, logger: Logger
    ) -> ServiceAssembly {
        let stores = ServiceStores(redis: redis, libraries: libraries, pool: pool, logger: logger)
        return assemble(
            instance: instance, stores: stores, configuration: ChannelStateConfiguration(), logger: logger)
    }

    private static func assemble(
        instance: String, stores: ServiceStores, configuration: ChannelStateConfiguration, logger: Logger
    ) -> ServiceAssembly {
        let timers = DueTimers(service: .channelState, connection: stores.redis)
        let uptime = RedisUptime(connection: stores.redis)
        let handlers = Handlers(
            connection: stores.redis, pool: stores.pool, timers: timers, uptime: uptime, logger: logger)
        let commands = CommandConsumer(
            service: .channelState, instance: instance, configuration: stores.redisConfiguration,
            connection: stores.redis, router: handlers.router, logger: logger)
        let store = MirrorStore(pool: stores.pool)
        let mirror = MirrorConsumer(
            service: .channelState, instance: instance, configuration: stores.redisConfiguration,
            connection: stores.redis, logger: logger
        ) { readers in
            try await store.members(MemberMirror.rows(readers, logger: logger))
        }
        let acting = TimerService(timers: timers, expiry: handlers.expiry)
        let retention = ChannelRetention(
            store: AttributeStore(pool: stores.pool), retention: configuration.versionRetention,
            survey: handlers.survey, logger: logger)
        let check = handlers.mirrorCheck
        let rounds = ExclusiveRounds(
            "channel-state-mirror", every: .seconds(60), connection: stores.redis, logger: logger
        ) { renew in try await check.round(renew) }
        return ServiceAssembly(
            services: [stores, uptime, acting, mirror, rounds, commands, retention], checks: stores.checks)
    }
}

/// The parts that handle commands and timers.
private struct Handlers {
    let router: CommandRouter
    let expiry: ChannelExpiry
    let mirrorCheck: MemberMirrorCheck
    let survey: ChannelSurvey

    init(
        connection: RedisConnection, pool: PostgresPool, timers: DueTimers, uptime: RedisUptime, logger: Logger
    ) {
        let functions = ChannelFunctions(connection: connection)
        let store = AttributeStore(pool: pool)
        let cache = ChannelAttributeCache(functions: functions, store: store)
        let changes = Batcher<ChannelAttributeChange, Int64> { batch throws(PostgresError) in
            try await store.changeChannelAttributes(batch)
        }
        let counters = ChannelCounters(functions: functions, timers: timers)
        let membership = MembershipHandler(
            functions: functions, attributes: cache, timers: timers, counters: counters, logger: logger)
        let attributes = ChannelAttributeHandler(
            functions: functions, cache: cache, changes: changes, timers: timers, counters: counters)
        let reassertion = MembershipReassertion(
            functions: functions, attributes: cache, timers: timers, counters: counters, logger: logger)
        mirrorCheck = MemberMirrorCheck(
            functions: functions, store: MirrorStore(pool: pool), reassertion: reassertion, uptime: uptime)
        let queries = MemberQueries(functions: functions)
        var router = CommandRouter()
        router.on(JoinChannel.self, membership.join)
        router.on(LeaveChannel.self, membership.leave)
        router.on(ChangeChannelAttributes.self, attributes.change)
        router.on(CountMembers.self, queries.count)
        router.on(QueryMember.self, queries.contains)
        router.on(ListMembers.self, queries.list)
        router.on(ReassertMembers.self, reassertion.reassert)
        router.on(ForgetMember.self, reassertion.forget)
        self.router = router
        expiry = ChannelExpiry(
            functions: functions, cache: cache, changes: changes, timers: timers, counters: counters, logger: logger)
        survey = ChannelSurvey(functions: functions, store: store, cache: cache, timers: timers, logger: logger)
    }
}

private struct TimerService: Service {
    let timers: DueTimers
    let expiry: ChannelExpiry

    func run() async throws { await timers.run { try await expiry.fired($0) } }
}
