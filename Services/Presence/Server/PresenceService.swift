internal import BusProtocol
internal import ClusterBus
package import ClusterService
package import ClusterState
internal import Logging
internal import MessageStore
internal import PostgresStore
package import PresenceLogic
internal import RedisClient
package import SignalingProtocol

/// The presence service: users' sessions and attributes, settings of apps, and the watch over gateways.
package struct PresenceService: ServiceDeclaration {
    package static let name = ServiceName.presence
    package static let libraries: [RedisFunctionLibrary] = [.presence, .messages, .leases]
    package let postgresConnections = 4

    private let configuration: PresenceConfiguration

    /// Creates the service with its settings.
    package init(_ configuration: PresenceConfiguration = PresenceConfiguration()) {
        self.configuration = configuration
    }

    package func parts(on resources: ServiceResources<PresenceTimer>) -> ServiceParts<PresenceTimer> {
        // Declares everything that the service counts.
        _ = PresenceMetrics.shared
        let (pool, logger) = (resources.pool, resources.logger)
        let functions = PresenceFunctions(
            redis: resources.redis, mirror: PresenceMirror(isOn: configuration.mirrors, bus: resources.redis.bus))
        let ending = SessionEnding(functions: functions, timers: resources.timers, logger: logger)
        let sessions = SessionHandler(
            functions: functions, ending: ending, logins: logins(pool), timers: resources.timers, logger: logger)
        let cache = UserAttributeCache(functions: functions, pool: pool)
        var router = commands(sessions, cache, resources)
        addBans(to: &router, sessions, resources)
        let lists = RecordLists.pool(like: pool, logger: logger)
        addLists(to: &router, lists, resources.redis)
        let settings = SettingsHandler.pool(like: pool, logger: logger)
        Self.addSettings(to: &router, settings, resources.redis)
        var parts = ServiceParts<PresenceTimer>(commands: router)
        parts.background.append(FurtherConnections(lists))
        parts.background.append(FurtherConnections(settings))
        parts.observe = { lists.observe() }
        addRounds(to: &parts, pool, functions)
        let timers = PresenceTimerHandler(
            functions: functions, ending: ending, cache: cache,
            gateways: LostGateways(
                functions: functions, watch: LeaseWatch(on: resources) { .gateway($0) },
                sessions: sessions, logger: logger),
            uptime: resources.uptime, timers: resources.timers)
        parts.timerFired = timers.fired
        addMirror(to: &parts, functions, ending, resources)
        return parts
    }

    private func addRounds(
        to parts: inout ServiceParts<PresenceTimer>, _ pool: PostgresPool, _ functions: PresenceFunctions
    ) {
        let bans = BanCheck(store: BanStore(pool: pool), functions: functions)
        let addresses = AddressBanStore(pool: pool)
        parts.rounds.append(
            ServiceRound("presence-bans", every: .seconds(60)) { renew in
                try await addresses.prune()
                try await bans.round(renew)
            })
        let usage = UsageStore(pool: pool)
        parts.rounds.append(
            ServiceRound("presence-usage", every: .seconds(60)) { _ in
                try await usage.notePeaks()
                try await usage.sumUp()
            })
    }

    /// The stream is read even when mirrors are off: instances with another setting may run, and may have run before.
    private func addMirror(
        to parts: inout ServiceParts<PresenceTimer>, _ functions: PresenceFunctions, _ ending: SessionEnding,
        _ resources: ServiceResources<PresenceTimer>
    ) {
        let mirror = MirrorStore(pool: resources.pool)
        let pruning = MirrorPruning(store: mirror, logger: resources.logger)
        let webhooks = WebhookOutbox(
            pool: resources.pool, backlog: configuration.webhookBacklog, logger: resources.logger)
        parts.mirror(PresenceMirrorRow.self, logger: resources.logger) { rows in
            try await webhooks.add(rows.compactMap(\.webhookEvent))
            try await mirror.sessions(rows)
            await pruning.pruneIfDue()
        }
        guard configuration.mirrors else {
            let removal = MirrorRemoval(store: mirror)
            parts.rounds.append(
                ServiceRound("presence-mirror-removal", every: .seconds(60), perform: removal.round))
            return
        }
        let check = SessionMirrorCheck(functions: functions, store: mirror, ending: ending, uptime: resources.uptime)
        parts.rounds.append(ServiceRound("presence-mirror", every: .seconds(60), perform: check.round))
    }

    /// Reads users' numeric ids and attributes in batches: when many users log in, one statement for many costs little
    /// more than one for a single user.
    private func logins(_ pool: PostgresPool) -> Batcher<UserKey, UserLogin> {
        let users = UserStore(pool: pool)
        return Batcher(gathering: .milliseconds(10)) { keys throws(PostgresError) in try await users.logins(of: keys) }
    }

    private func commands(
        _ sessions: SessionHandler, _ cache: UserAttributeCache, _ resources: ServiceResources<PresenceTimer>
    ) -> CommandRouter {
        let attributes = UserAttributeHandler(
            functions: sessions.functions, cache: cache, timers: resources.timers, pool: resources.pool)
        let reassertion = SessionReassertion(
            functions: sessions.functions, ending: sessions.ending, timers: resources.timers, logger: resources.logger)
        let detached = DetachedReassertion(
            functions: sessions.functions, users: UserStore(pool: resources.pool), timers: resources.timers,
            logger: resources.logger)
        let apps = AppRegistry(store: AppStore(pool: resources.pool))
        var router = CommandRouter()
        router.onFollowed(OpenSession.self, sessions.open)
        router.on(ResumeSession.self, sessions.resume)
        router.on(DetachSession.self, sessions.detach)
        router.on(CloseSession.self, sessions.close)
        router.on(QueryUserStatus.self, sessions.status)
        router.on(ReassertSessions.self, reassertion.reassert)
        router.on(ReassertDetachedSessions.self, detached.reassert)
        router.on(SetUserAttribute.self, attributes.set)
        router.on(ChangeUserAttribute.self, attributes.change)
        router.on(GetUserAttribute.self, attributes.get)
        router.on(ListUserAttributes.self, attributes.list)
        router.on(GetApp.self) { command, _ async throws(SignalingError) in
            try await apps.settings(of: command.app)
        }
        let usage = UsageStore(pool: resources.pool)
        router.on(ReportUsage.self) { command, _ async throws(SignalingError) in
            try await answerOfPostgres { () throws(PostgresError) in
                try await usage.record(command.uses, at: command.gateway)
            }
            return Done()
        }
        Self.addKeys(to: &router, APIKeyStore(pool: resources.pool))
        let audit = AuditStore(pool: resources.pool)
        router.on(DrainProcess.self, ProcessHandler(redis: resources.redis, audit: audit).drain)
        router.on(NoteMailboxAct.self, MailboxAuditHandler(audit: audit).note)
        router.on(GetDatabaseServers.self, DatabaseHandler(like: resources.pool, logger: resources.logger).servers)
        return router
    }

    private static func addKeys(to router: inout CommandRouter, _ store: APIKeyStore) {
        let known = APIKeyRegistry(store: store)
        router.on(GetAPIKey.self) { command, _ async throws(SignalingError) in try await known.key(command.id) }
        let keys = APIKeyHandler(store: store)
        router.on(CreateAPIKey.self, keys.create)
        router.on(RevokeAPIKey.self, keys.revoke)
    }

    private func addBans(
        to router: inout CommandRouter, _ sessions: SessionHandler, _ resources: ServiceResources<PresenceTimer>
    ) {
        let bans = BanHandler(
            store: BanStore(pool: resources.pool), audit: AuditStore(pool: resources.pool),
            functions: sessions.functions, sessions: sessions,
            logger: resources.logger)
        router.on(DisconnectUser.self, bans.disconnect)
        router.on(BanUser.self, bans.ban)
        router.on(GetBan.self, bans.find)
        router.on(LiftBan.self, bans.lift)
        router.on(RevokeTokens.self, bans.revokeTokens)
        router.on(GetRevokedTokens.self, bans.findRevoked)
        let addresses = AddressBanHandler(store: AddressBanStore(pool: resources.pool))
        router.on(BanAddress.self, addresses.ban)
        router.on(LiftAddressBan.self, addresses.lift)
        router.on(ListAddressBans.self, addresses.list)
        router.on(GetBannedNetworks.self, addresses.networks)
    }

    private static func addSettings(to router: inout CommandRouter, _ pool: PostgresPool, _ redis: RedisClient) {
        let settings = SettingsHandler(pool: pool)
        let slot = redis.bus.partition(of: .tagged("apps")).slot
        @Sendable func left(_ context: CommandContext) async throws(SignalingError) -> Duration? {
            guard let deadline = context.deadline else { return nil }
            return deadline - (try await redis.time(ofSlot: slot))
        }
        router.on(ApplySettings.self) { command, context async throws(SignalingError) in
            try await settings.apply(command, by: AuditCause(context), within: left(context))
        }
        router.on(RemoveApp.self) { command, context async throws(SignalingError) in
            try await settings.remove(command, by: AuditCause(context), within: left(context))
        }
        router.on(ExportSettings.self) { command, _ async throws(SignalingError) in try await settings.export(command) }
    }

    private func addLists(to router: inout CommandRouter, _ pool: PostgresPool, _ redis: RedisClient) {
        let lists = RecordLists(pool: pool)
        router.on(ListRecords.self) { command, context async throws(SignalingError) in
            guard let deadline = context.deadline else { return try await lists.page(command, within: nil) }
            let slot = redis.bus.partition(of: command.subject).slot
            return try await lists.page(command, within: deadline - redis.time(ofSlot: slot))
        }
    }
}

extension PresenceTimer: ServiceTimer {}
