internal import ClusterState
internal import InvitationLogic
package import Logging
internal import MessageStore
package import PostgresStore
package import RedisStore
package import ServiceKit
internal import ServiceLifecycle
internal import ServiceStores
internal import SignalingProtocol

/// The invitation service: calls between users and with telephones, their timers, the watch over sip-bridges, and the call
/// log.
///
/// Any number of instances share the work; all state is in Redis, and the call log in PostgreSQL.
package enum InvitationService {
    private static let libraries: [RedisFunctionLibrary] = [
        .calls, .messages, .leases, .timers, .streams,
    ]

    /// Builds the service from its settings.
    /// - Throws: as ``ServiceStores`` does.
    package static func assemble(
        _ context: ServiceContext, _ configuration: InvitationConfiguration
    ) async throws -> ServiceAssembly {
        let stores = try await ServiceStores(
            context, libraries: libraries, postgresConnections: configuration.postgresConnections)
        return assemble(
            configuration, instance: context.configuration.instance, stores: stores, logger: context.logger)
    }

    /// Builds the service around given stores, for one process or a test.
    /// - Parameter instance: this process among its kind.
    package static func assemble(
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
        let uptime = RedisUptime(connection: redis)
        let handlers = Handlers(
            stores: stores, timers: timers, uptime: uptime, configuration: configuration, logger: logger)
        let commands = CommandConsumer(
            service: .invitation, instance: instance, configuration: stores.redisConfiguration, connection: redis,
            router: handlers.router, logger: logger)
        let store = CallStore(pool: stores.pool)
        let mirror = MirrorConsumer(
            service: .invitation, instance: instance, configuration: stores.redisConfiguration, connection: redis,
            logger: logger
        ) { entries in
            try await CallLogStream.copy(entries, to: store, logger)
        }
        let acting = TimerService(timers: timers, handlers: handlers)
        let pruning = CallLogPruning(store: store, days: configuration.callsKeptDays, logger: logger)
        let reconciliation = CallReconciliation(
            store: store, records: CallRecordStore(connection: redis), messages: MessageStore(connection: redis),
            log: CallLogStream(connection: redis), connection: redis, instance: instance,
            pause: configuration.reconciliation,
            logger: logger)
        return ServiceAssembly(
            services: [stores, uptime, acting, mirror, commands, pruning, reconciliation], checks: stores.checks)
    }
}

/// The parts that handle commands and timers.
private struct Handlers: Sendable {
    let router: CommandRouter
    private let calls: CallHandler
    private let bridges: BridgeWatch
    private let logger: Logger

    init(
        stores: ServiceStores, timers: DueTimers, uptime: RedisUptime, configuration: InvitationConfiguration,
        logger: Logger
    ) {
        let redis = stores.redis
        let records = CallRecordStore(connection: redis)
        let phones = PhoneDispatch(connection: redis, logger: logger)
        let lines = PhoneLines(connection: redis)
        let trunks = TrunkDirectory(store: TrunkStore(pool: stores.pool))
        let driver = CallDriver(
            records: records, messages: MessageStore(connection: redis), timers: timers, phones: phones, lines: lines,
            durations: configuration.durations, logger: logger)
        let callees = CalleeDirectory(store: UserStore(pool: stores.pool))
        let calls = CallHandler(driver: driver, records: records, trunks: trunks, lines: lines, callees: callees)
        let telephones = PhoneHandler(driver: driver, records: records, trunks: trunks, callees: callees)
        var router = CommandRouter()
        router.on(CallAct.self) { command, context throws(SignalingError) in try await calls.act(command, context) }
        router.on(EndSessionCalls.self) { command, context throws(SignalingError) in
            try await calls.endCalls(command, context)
        }
        router.on(PhoneReport.self) { command, context throws(SignalingError) in
            try await telephones.report(command, context)
        }
        router.on(InviteFromPhone.self) { command, context throws(SignalingError) in
            try await telephones.invite(command, context)
        }
        self.router = router
        self.calls = calls
        bridges = BridgeWatch(
            leases: GatewayLeases(connection: redis, fleet: .bridges), records: records, phones: phones, driver: driver,
            uptime: uptime, logger: logger)
        self.logger = logger
    }

    func fire(_ member: String) async throws {
        switch InvitationTimer(member: member) {
        case .call(let reference): try await calls.fire(reference)
        case .bridge(let bridge): try await bridges.check(bridge)
        case nil: logger.error("an unknown timer was dropped", metadata: ["service": "invitation"])
        }
    }
}

private struct TimerService: Service {
    let timers: DueTimers
    let handlers: Handlers

    func run() async throws { await timers.run { try await handlers.fire($0.member) } }
}
