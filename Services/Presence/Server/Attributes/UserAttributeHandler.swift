internal import ClusterService
internal import ClusterState
internal import Metrics
internal import PostgresStore
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Sets users' attributes, and answers queries for them.
struct UserAttributeHandler: Sendable {
    /// How long after a change a timer checks whether the committed change is cached.
    private static let patience = Duration.seconds(10)

    let functions: PresenceFunctions
    let cache: UserAttributeCache
    let changes: Batcher<UserAttributeChange, Int64>
    let timers: ServiceTimers<PresenceTimer>

    init(
        functions: PresenceFunctions, cache: UserAttributeCache, timers: ServiceTimers<PresenceTimer>,
        pool: PostgresPool
    ) {
        self.functions = functions
        self.cache = cache
        self.timers = timers
        let store = AttributeStore(pool: pool)
        changes = Batcher { batch throws(PostgresError) in try await store.changeUserAttributes(batch) }
    }

    func set(_ command: SetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> Done {
        try UserAttributeRules.check(command.attribute)
        // If this process dies after the commit and the command is not redelivered, the timer updates the cache.
        let due = timers.setting(
            .attributes(command.user), at: try await functions.redis.time() + Self.patience)
        do {
            _ = try await functions.redis.answers(to: [due, PresenceFunctions.begin(command, context)])
        } catch {
            if error.reason == .tooManyAttributes { PresenceMetrics.attributesRefused.increment() }
            throw error
        }
        let version: Int64
        do {
            version = try await changes.submit(
                UserAttributeChange(
                    command: context.id, user: command.user, change: .update(command.attribute)))
        } catch {
            throw error.signaling
        }
        guard version > 0 else {
            PresenceMetrics.attributesRefused.increment()
            throw .tooManyAttributes(of: "user")
        }
        let committed = try await functions.committed(command.attribute, of: command.user, version: version)
        // The version was cached already: by a redelivery or a reload, or because PostgreSQL has lost commits and
        // assigns their versions again.
        if committed.isKnown { try await cache.resynchronize(command.user) }
        if let moved = committed.moved {
            try await timers.set(.session(command.user, moved.session), at: moved.over)
        }
        return Done()
    }

    func get(_ command: GetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> AttributeValue {
        AttributeValue(value: try await cache.value(command.name, of: command.user))
    }

    func list(_ command: ListUserAttributes, _ context: CommandContext) async throws(SignalingError) -> AttributeList {
        AttributeList(attributes: try await cache.list(of: command.user))
    }
}
