internal import PostgresStore
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Sets and tells users' attributes.
struct UserAttributeHandler: Sendable {
    /// After this long (ms) a timer looks whether a change that was committed is cached too.
    private static let patience: Int64 = 10_000

    let functions: PresenceFunctions
    let cache: UserAttributeCache
    let changes: Batcher<UserAttributeChange, Int64>
    let sessions: SessionHandler

    func set(_ command: SetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> Done {
        try UserAttributeRules.check(command.attribute)
        // Should this process die after the commit and the command not come again in time, the timer mends the cache.
        let now = try await functions.now()
        try await sessions.schedule(.attributes(command.user), at: now + Self.patience)
        let version: Int64
        do {
            version = try await changes.submit(
                UserAttributeChange(
                    command: context.id, user: command.user, change: .update(command.attribute)))
        } catch {
            throw error.signaling
        }
        let moved = try await functions.committed(command.attribute, of: command.user, version: version)
        if let moved { try await sessions.schedule(.session(command.user, moved.session), at: moved.over) }
        return Done()
    }

    func get(_ command: GetUserAttribute, _ context: CommandContext) async throws(SignalingError) -> AttributeValue {
        AttributeValue(value: try await cache.value(command.name, of: command.user))
    }

    func list(_ command: ListUserAttributes, _ context: CommandContext) async throws(SignalingError) -> AttributeList {
        AttributeList(attributes: try await cache.list(of: command.user))
    }
}
