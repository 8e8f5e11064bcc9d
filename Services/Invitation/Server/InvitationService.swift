internal import BusProtocol
internal import ClusterBus
package import ClusterService
package import ClusterState
package import InvitationLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import PostgresStore
package import SignalingProtocol

/// The invitation service: calls between users and with telephones, their timers, the watch over
/// sip-bridges, and the call log.
///
/// Any number of instances share the work; all state is in Redis, and the call log in PostgreSQL.
package struct InvitationService: ServiceDeclaration {
    package static let name = ServiceName.invitation
    package static let libraries: [RedisFunctionLibrary] = [.calls, .messages, .leases]
    package var postgresConnections: Int { configuration.postgresConnections }

    private let configuration: InvitationConfiguration

    /// Creates the service with its settings.
    package init(_ configuration: InvitationConfiguration = InvitationConfiguration()) {
        self.configuration = configuration
    }

    package func parts(on resources: ServiceResources<InvitationTimer>) -> ServiceParts<InvitationTimer> {
        // Declares everything that the service counts.
        _ = InvitationMetrics.shared
        let (redis, logger) = (resources.redis, resources.logger)
        let driver = driver(on: resources)
        let trunks = CachedRecords<AppID, TrunkTerms>(store: TrunkStore(pool: resources.pool))
        let calls = CallHandler(
            driver: driver, trunks: trunks, callees: CalleeNumbers(store: UserStore(pool: resources.pool)),
            audit: AuditStore(pool: resources.pool))
        let bridges = LostBridges(
            watch: LeaseWatch(on: resources) { .bridge($0) }, driver: driver, logger: logger)
        var parts = ServiceParts<InvitationTimer>(commands: commands(calls))
        parts.timerFired = { timer in
            switch timer {
            case .call(let reference): try await calls.fire(reference)
            case .bridge(let bridge): try await bridges.check(bridge)
            }
        }
        let store = CallStore(pool: resources.pool)
        let webhooks = WebhookOutbox(
            pool: resources.pool, backlog: configuration.webhookBacklog, logger: logger)
        parts.mirror = { entries in try await CallLogStream.copy(entries, to: store, webhooks, logger) }
        parts.background = [
            CallLogMonths(
                months: CallMonths(pool: resources.pool), histories: Histories(pool: resources.pool),
                days: configuration.callsKeptDays, logger: logger),
            CallLogPruning(store: store, days: configuration.callsKeptDays, logger: logger),
            CallReconciliation(driver, store: store, redis: redis, pause: configuration.reconciliation),
            driver.ends, driver.followed,
            WebhookWatch(store: WebhookStore(pool: resources.pool), logger: logger),
            MirrorConsumer(
                .messages, instance: resources.instance, connection: redis, logger: logger,
                handler: { entries in try await MessageEventStream.copy(entries, to: webhooks, driver.followed, logger)
                }),
        ]
        return parts
    }

    private func driver(on resources: ServiceResources<InvitationTimer>) -> CallDriver {
        let (redis, logger) = (resources.redis, resources.logger)
        let records = CallRecordStore(redis: redis)
        return CallDriver(
            records: records, messages: MessageStore(connection: redis),
            timers: resources.timers, phones: PhoneDispatch(redis: redis, logger: logger),
            lines: PhoneLines(redis: redis), ends: RecentEnds(redis: redis, records: records, logger: logger),
            followed: FollowedEvents(redis: redis, logger: logger), durations: configuration.durations, logger: logger)
    }

    private func commands(_ calls: CallHandler) -> CommandRouter {
        let telephones = PhoneHandler(driver: calls.driver, trunks: calls.trunks, callees: calls.callees)
        var router = CommandRouter()
        router.on(CallAct.self, calls.act)
        router.on(FindCall.self, calls.find)
        router.on(EndSessionCalls.self, calls.endCalls)
        router.on(PhoneReport.self, telephones.report)
        router.on(InviteFromPhone.self, telephones.invite)
        return router
    }
}

extension InvitationTimer: ServiceTimer {}
