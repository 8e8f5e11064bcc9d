internal import ChannelStateLogic
internal import ClusterState
internal import RedisStore
internal import SignalingProtocol

/// Attributes in the cache, and the end of empty channels.
extension ChannelFunctions {
    struct Begun: Equatable {
        var attributesAreCached: Bool
        var members: Int
        /// The Redis clock, ms.
        var now: Int64
    }

    /// Counts a change that is about to be committed. To be asked again after loading when nothing is cached.
    /// - Throws: `SignalingError` with reason `rate_limited`, `too_many_attributes` or `memory_full`.
    func begin(
        _ command: ChangeChannelAttributes, _ channel: ChannelKey, _ context: CommandContext
    ) async throws(SignalingError) -> Begun {
        var adds = false
        if case .update = command.change { adds = true }
        let reply = try await redis.answer(
            to: .function(
                "channel_attribute_begin", tag: KeySpace.tag(channel), .string(context.id.rawValue),
                .int64(context.deadline), .string(ChannelAttributeRules.countedName(command.change)),
                .int(command.limitPerSecond), adds ? 1 : 0))
        guard let parts = reply.array, parts.count == 3, let cached = parts[0].int, let members = parts[1].int,
            let now = parts[2].int
        else { throw .unreadableAnswer }
        return Begun(attributesAreCached: cached == 1, members: Int(members), now: now)
    }

    /// Asks whether the session may act, as the last check before the act takes effect. A gateway that was cut off and now
    /// passes on old requests is refused: the account may have another session meanwhile.
    static func acts(_ actor: Actor, _ context: CommandContext) -> RedisCommand {
        .function(
            "session_acts", tag: KeySpace.tag(actor.user), .int64(context.deadline), .string(actor.session.rawValue),
            .string(context.asker?.rawValue ?? ""))
    }

    /// Tells the cache of a committed change, which publishes it.
    func committed(
        _ change: AttributeChange, version: Int64, by actor: Actor, _ channel: ChannelKey
    ) async throws(SignalingError) -> AttributeSettlement.Answer {
        let (verb, name, value) =
            switch change {
            case .update(let attribute): ("update", attribute.name.rawValue, attribute.value)
            case .delete(let name): ("del", name.rawValue, "")
            case .clear: ("clear", "", "")
            }
        let reply = try await redis.answer(
            to: .function(
                "channel_attributes", tag: KeySpace.tag(channel), .int64(version),
                .string(actor.user.account.rawValue), .int(actor.uid), .string(verb), .string(name), .string(value))
        )
        guard let answer = reply.string.flatMap(AttributeSettlement.Answer.init) else { throw .unreadableAnswer }
        return answer
    }

    /// What Redis said to a reload.
    enum Reload: String {
        /// Nothing is cached.
        case begun
        /// Older attributes are cached: the differences are to be found.
        case differs
        /// These or newer ones are cached.
        case known
        /// A later commit is known: read again.
        case old
        /// Another reload is under way.
        case busy
    }

    /// One attempt to put what PostgreSQL has into the cache.
    struct ReloadAttempt {
        /// Tells it from attempts of other processes.
        let id = SecureRandom.hex(bytes: 8)
        /// Of the attributes in PostgreSQL.
        var version: Int64
        /// In whose name members are told of differences.
        var account: Account
        var uid: UInt32
    }

    /// Puts what PostgreSQL has into the cache of a channel of which nothing is cached. ``Reload/begun`` when it is done.
    func reloadAtOnce(
        _ changes: [AttributeChange], _ attempt: ReloadAttempt, _ channel: ChannelKey
    ) async throws(SignalingError) -> Reload {
        let head: [RedisArgument] = [
            .int64(attempt.version), .string(attempt.account.rawValue), .int(attempt.uid),
        ]
        return try Self.reload(
            try await redis.answer(
                to: .function(
                    "channel_reload_at_once", tag: KeySpace.tag(channel), arguments: head + Self.arguments(changes))
            ))
    }

    /// Begins to put what PostgreSQL has into the cache.
    func beginReload(_ attempt: ReloadAttempt, _ channel: ChannelKey) async throws(SignalingError) -> Reload {
        try Self.reload(
            try await redis.answer(
                to: .function(
                    "channel_reload", tag: KeySpace.tag(channel), .string(attempt.id), .int64(attempt.version))))
    }

    /// Applies a step's differences, and tells members of them in an account's name.
    /// - Returns: false when the reload is not under way any more.
    func reloadStep(
        _ changes: [AttributeChange], isLast: Bool, of attempt: ReloadAttempt, _ channel: ChannelKey
    ) async throws(SignalingError) -> Bool {
        let head: [RedisArgument] = [
            .string(attempt.id), .int64(attempt.version), .string(attempt.account.rawValue), .int(attempt.uid),
            isLast ? 1 : 0,
        ]
        let reply = try await redis.answer(
            to: .function(
                "channel_reload_step", tag: KeySpace.tag(channel), arguments: head + Self.arguments(changes)))
        return reply.int == 1
    }

    /// What is cached, whatever version.
    func cachedAttributes(_ channel: ChannelKey) async throws(SignalingError) -> [Attribute] {
        let cached = try await redis.answer(to: RedisCommand("HGETALL", .string(ChannelKeys(channel).attributes)))
        guard let parts = cached.array else { throw .unreadableAnswer }
        return try Self.attributes(parts[...])
    }

    struct Cached: Equatable {
        /// Of the cached attributes; nil when none are.
        var version: Int64?
        /// Whether somebody joined while the attributes could not be read.
        var isAwaited: Bool
    }

    func cached(_ channel: ChannelKey) async throws(SignalingError) -> Cached {
        let keys = ChannelKeys(channel)
        let replies = try await redis.answers(to: [
            RedisCommand("GET", .string(keys.attributesVersion)), RedisCommand("HGET", .string(keys.state), "unloaded"),
        ])
        return Cached(version: replies[0].string.flatMap { Int64($0) }, isAwaited: replies[1].string == "1")
    }

    private static func reload(_ reply: RedisValue) throws(SignalingError) -> Reload {
        guard let answer = reply.string.flatMap(Reload.init) else { throw .unreadableAnswer }
        return answer
    }

    private static func arguments(_ changes: [AttributeChange]) -> [RedisArgument] {
        changes.flatMap { change -> [RedisArgument] in
            switch change {
            case .update(let attribute): ["update", .string(attribute.name.rawValue), .string(attribute.value)]
            case .delete(let name): ["del", .string(name.rawValue), ""]
            case .clear: []
            }
        }
    }

    enum Expiry: Equatable {
        /// Not yet: look again then (ms).
        case wait(until: Int64)
        /// The channel's time is over.
        case due
        /// Nobody ever joined: only the cache is to be dropped.
        case idle
        /// There is no such channel.
        case none
    }

    func expiry(_ channel: ChannelKey) async throws(SignalingError) -> Expiry {
        let texts = try await redis.answer(to: .function("channel_expiry", tag: KeySpace.tag(channel))).texts
        switch texts.first {
        case "wait":
            guard texts.count == 2, let until = Int64(texts[1]) else { throw .unreadableAnswer }
            return .wait(until: until)
        case "due": return .due
        case "idle": return .idle
        default: return .none
        }
    }

    /// Makes a channel that Redis has forgotten one whose last member has just left.
    /// - Returns: false when it is known.
    func adopt(_ channel: ChannelKey) async throws(SignalingError) -> Bool {
        try await redis.answer(to: .function("channel_adopt", tag: KeySpace.tag(channel))).int == 1
    }

    /// Deletes an empty channel's keys.
    /// - Parameter version: of the attributes after they were cleared; 0 when they were not.
    /// - Returns: false when it has members again.
    func delete(_ channel: ChannelKey, version: Int64) async throws(SignalingError) -> Bool {
        try await redis.answer(to: .function("channel_delete", tag: KeySpace.tag(channel), .int64(version))).int == 1
    }
}
