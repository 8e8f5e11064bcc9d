internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Sets users' attributes, and answers queries for them.
struct UserAttributeHandler: Sendable {
    /// How long after a change a timer checks whether the committed change is cached.
    private static let patience = Duration.seconds(10)

    let functions: PresenceFunctions
    let cache: UserAttributeCache
    let changes: Batcher<UserAttributeChange, Int64>
    let store: AttributeStore
    let timers: ServiceTimers<PresenceTimer>

    init(
        functions: PresenceFunctions, cache: UserAttributeCache, timers: ServiceTimers<PresenceTimer>,
        pool: PostgresPool
    ) {
        self.functions = functions
        self.cache = cache
        self.timers = timers
        let store = AttributeStore(pool: pool)
        self.store = store
        changes = Batcher { batch throws(PostgresError) in try await store.changeUserAttributes(batch) }
    }

    func set(_ command: SetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> Done {
        let attribute = command.attribute
        try UserAttributeRules.check(attribute)
        let change = ChangeUserAttribute(
            user: command.user, name: attribute.name, value: attribute.value, expectation: .any)
        return try await make(change, in: command.session, context)
    }

    func change(_ command: ChangeUserAttribute, _ context: CommandContext) async throws(SignalingError) -> Done {
        if let value = command.value {
            try UserAttributeRules.check(Attribute(name: command.name, value: value))
        } else {
            try UserAttributeRules.checkDeletion(command.name)
        }
        return try await make(command, in: .server, context)
    }

    private func make(
        _ command: ChangeUserAttribute, in session: SessionID, _ context: CommandContext
    ) async throws(SignalingError) -> Done {
        let (user, name) = (command.user, command.name)
        // If this process dies after the commit and the command is not redelivered, the timer updates the cache.
        let now = try await functions.redis.time(ofSlot: KeySpace.slot(of: .user(user)))
        let due = timers.setting(.attributes(user), at: now + Self.patience)
        do {
            _ = try await functions.redis.answers(to: [
                due, PresenceFunctions.begin(name, of: user, in: session, context),
            ])
        } catch {
            if error.reason == .tooManyAttributes { PresenceMetrics.shared.attributesRefused.increment() }
            throw error
        }
        let change: AttributeChange =
            command.value.map { .update(Attribute(name: name, value: $0)) } ?? .delete(name)
        let version = try await commit(
            UserAttributeChange(command: context.id, user: user, change: change), if: command.expectation)
        guard version > 0 else {
            PresenceMetrics.shared.attributesRefused.increment()
            throw .tooManyAttributes(of: "user")
        }
        let committed = try await functions.committed(name, command.value, of: user, version: version)
        // The version was cached already: by a redelivery or a reload, or because PostgreSQL has lost commits and
        // assigns their versions again.
        if committed.isKnown { try await cache.resynchronize(user) }
        if let moved = committed.moved {
            try await timers.set(.session(user, moved.session), at: moved.over)
        }
        return Done()
    }

    /// - Returns: the version after the change; 0 when it would exceed a bound.
    private func commit(
        _ change: UserAttributeChange, if expectation: AttributeExpectation
    ) async throws(SignalingError) -> Int64 {
        let version: Int64?
        do {
            switch expectation {
            case .any: version = try await changes.submit(change)
            case .absent: version = try await store.changeUserAttribute(change, if: nil)
            case .value(let value): version = try await store.changeUserAttribute(change, if: value)
            }
        } catch {
            guard error.isBoundOfApp else { throw error.signaling }
            PresenceMetrics.shared.attributeOwnersRefused.increment()
            throw SignalingError(.largeParameter, .tooManyAttributes, error.message)
        }
        guard let version else { throw .valueDiffers }
        return version
    }

    func get(_ command: GetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> AttributeValue {
        AttributeValue(value: try await cache.value(command.name, of: command.user))
    }

    func list(_ command: ListUserAttributes, _ context: CommandContext) async throws(SignalingError) -> AttributeList {
        AttributeList(attributes: try await cache.list(of: command.user))
    }
}
