internal import BusProtocol
package import ChannelStateLogic
internal import ClusterBus
package import ClusterService
package import ClusterState
internal import Logging
internal import MessageStore
internal import PostgresStore
internal import RedisClient
package import SignalingProtocol

/// The channel-state service: channels' members and attributes.
package struct ChannelStateService: ServiceDeclaration {
    package static let name = ServiceName.channelState
    package static let libraries: [RedisFunctionLibrary] = [.channels, .memberships, .messages]
    package let postgresConnections = 4

    private let configuration: ChannelStateConfiguration

    /// Creates the service with its settings.
    package init(_ configuration: ChannelStateConfiguration = ChannelStateConfiguration()) {
        self.configuration = configuration
    }

    package func parts(on resources: ServiceResources<ChannelTimer>) -> ServiceParts<ChannelTimer> {
        // Declares everything that the service counts.
        _ = ChannelMetrics.shared
        let (pool, logger) = (resources.pool, resources.logger)
        let cluster = resources.cluster
        let mirror = MemberMirror(
            isOn: configuration.mirrors, tellsEnds: { cluster.runningLevel >= ChannelEndRow.level },
            bus: resources.redis.bus)
        let functions = ChannelFunctions(redis: resources.redis, mirror: mirror)
        let store = AttributeStore(pool: pool)
        let channels = SharedParts(
            functions: functions, cache: ChannelAttributeCache(functions: functions, store: store),
            changes: Batcher { batch throws(PostgresError) in try await store.changeChannelAttributes(batch) },
            counters: ChannelCounters(functions: functions, timers: resources.timers), timers: resources.timers,
            logger: logger)
        let reassertion = MembershipReassertion(
            functions: functions, attributes: channels.cache, timers: resources.timers, counters: channels.counters,
            logger: logger)
        var parts = ServiceParts<ChannelTimer>(
            commands: commands(channels, reassertion, AuditStore(pool: pool)))
        parts.timerFired =
            ChannelExpiry(
                functions: functions, cache: channels.cache, changes: channels.changes, timers: resources.timers,
                counters: channels.counters, logger: logger
            ).fired
        let mirrored = MirrorStore(pool: pool)
        copyMemberships(into: mirrored, resources, &parts)
        if configuration.mirrors {
            let check = MemberMirrorCheck(
                functions: functions, store: mirrored, reassertion: reassertion, uptime: resources.uptime)
            parts.rounds = [ServiceRound("channel-state-mirror", every: .seconds(60), perform: check.round)]
        }
        let survey = ChannelSurvey(
            functions: functions, store: store, cache: channels.cache, timers: resources.timers, logger: logger)
        parts.background = [
            ChannelRetention(store: store, retention: configuration.versionRetention, survey: survey, logger: logger)
        ]
        return parts
    }

    /// Has the changes of memberships written to PostgreSQL, with the events of webhooks.
    private func copyMemberships(
        into store: MirrorStore, _ resources: ServiceResources<ChannelTimer>, _ parts: inout ServiceParts<ChannelTimer>
    ) {
        // Read even when mirrors are off: instances with another setting may run, and may have run before.
        let webhooks = WebhookOutbox(
            pool: resources.pool, backlog: configuration.webhookBacklog, logger: resources.logger)
        parts.mirror(ChannelMirrorRow.self, logger: resources.logger) { rows in
            try await webhooks.add(rows.flatMap(\.webhookEvents))
            try await store.members(
                rows.compactMap { row in if case .member(let member) = row { member } else { nil } })
        }
    }

    private func commands(
        _ channels: SharedParts, _ reassertion: MembershipReassertion, _ audit: AuditStore
    ) -> CommandRouter {
        let membership = MembershipHandler(
            functions: channels.functions, attributes: channels.cache, timers: channels.timers,
            counters: channels.counters, reassertion: reassertion, logger: channels.logger)
        let attributes = ChannelAttributeHandler(
            functions: channels.functions, cache: channels.cache, changes: channels.changes,
            store: channels.cache.store, timers: channels.timers, counters: channels.counters)
        let moderation = ModerationHandler(membership: membership, audit: audit)
        let queries = MemberQueries(functions: channels.functions)
        var router = CommandRouter()
        router.onFollowed(JoinChannel.self, membership.join)
        router.onFollowed(LeaveChannel.self, membership.leave)
        router.on(ChangeChannelAttributes.self) { command, context async throws(SignalingError) in
            try await attributes.change(command, context)
        }
        router.on(ChangeChannelAttribute.self) { command, context async throws(SignalingError) in
            try await attributes.change(command, context)
        }
        router.on(ListChannelAttributes.self, attributes.list)
        router.on(CountMembers.self, queries.count)
        router.on(QueryMember.self, queries.contains)
        router.on(ListMembers.self, queries.list)
        router.onFollowed(RestrictMember.self, moderation.restrict)
        router.on(LiftRestriction.self, moderation.lift)
        router.on(ListRestrictions.self, moderation.list)
        router.on(ReassertMembers.self, reassertion.reassert)
        router.on(ForgetMember.self, reassertion.forget)
        return router
    }
}

extension ChannelTimer: ServiceTimer {}

/// Components that several parts of the service use.
private struct SharedParts {
    let functions: ChannelFunctions
    let cache: ChannelAttributeCache
    let changes: Batcher<ChannelAttributeChange, Int64>
    let counters: ChannelCounters
    let timers: ServiceTimers<ChannelTimer>
    let logger: Logger
}
