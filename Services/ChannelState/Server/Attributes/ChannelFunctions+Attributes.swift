internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterState
internal import MessageStore
internal import RedisClient
internal import SignalingProtocol

/// The attributes cache, and the end of empty channels.
extension ChannelFunctions {
    /// A change that was counted against the rate limit and may be committed.
    struct AdmittedChange: Equatable {
        var attributesAreCached: Bool
        var members: Int
        var now: RedisTime
    }

    /// Counts a change that is about to be committed. When nothing is cached, it must be called again after loading.
    /// - Throws: `SignalingError` with reason `rate_limited`, `too_many_attributes` or `memory_full`.
    func begin(
        _ command: ChangeChannelAttributes, _ channel: ChannelKey, _ context: CommandContext
    ) async throws(SignalingError) -> AdmittedChange {
        // The bytes that are added; nil when nothing is.
        var added: Int?
        if case .update(let attribute) = command.change {
            added = attribute.name.rawValue.utf8.count + attribute.value.utf8.count
        }
        let reply = try await redis.answer(
            to: .function(
                "channel_attribute_begin", tag: KeySpace.tag(channel), .string(context.id.rawValue),
                .deadline(context.deadline), .string(ChannelAttributeRules.countedName(command.change)),
                .int(command.limitPerSecond), added == nil ? 0 : 1, .int(added ?? 0)))
        var parts = try FunctionReply(reply)
        return AdmittedChange(
            attributesAreCached: try parts.int64() == 1, members: try parts.int(), now: try parts.time())
    }

    /// The command that asks whether the session may act, as the last check before the act takes effect. It refuses a
    /// gateway that was cut off and now passes on old requests, when the account has another session by then.
    static func mayAct(_ actor: Actor, _ context: CommandContext) -> RedisCommand {
        .function(
            "session_acts", tag: KeySpace.tag(actor.user), .deadline(context.deadline), .string(actor.session.rawValue),
            .string(context.asker?.id ?? ""))
    }

    /// Applies a committed change to the cache, which publishes it.
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

    /// The answer of Redis to a reload of the cache.
    enum Reload: String {
        /// Nothing was cached; the reload has begun.
        case begun
        /// Older attributes are cached: the differences must be determined.
        case differs
        /// These or newer attributes are cached.
        case known
        /// A later commit is known: PostgreSQL must be read again.
        case old
        /// Another reload is in progress.
        case busy
    }

    /// One attempt to put PostgreSQL's attributes into the cache.
    struct ReloadAttempt {
        /// Distinguishes the attempt from those of other processes.
        let id = SecureRandom.hex(bytes: 8)
        /// The version of the attributes in PostgreSQL.
        var version: Int64
        /// The account that is named in the events about the changes.
        var account: Account
        var uid: UInt32
    }

    /// Fills the empty cache of a channel in one step. ``Reload/begun`` means that it is done.
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

    /// Begins to put PostgreSQL's attributes into the cache.
    func beginReload(_ attempt: ReloadAttempt, _ channel: ChannelKey) async throws(SignalingError) -> Reload {
        try Self.reload(
            try await redis.answer(
                to: .function(
                    "channel_reload", tag: KeySpace.tag(channel), .string(attempt.id), .int64(attempt.version))))
    }

    /// Applies one step of the differences and announces them to the members.
    /// - Returns: false when the reload is not in progress any more.
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

    /// The cached attributes, whatever their version.
    func cachedAttributes(_ channel: ChannelKey) async throws(SignalingError) -> [Attribute] {
        let cached = try await redis.answer(to: RedisCommand("HGETALL", key: ChannelKeys(channel).attributes))
        guard let parts = cached.array else { throw .unreadableAnswer }
        return try Self.attributes(parts[...])
    }

    struct Cached: Equatable {
        /// The version of the cached attributes; nil when none are cached.
        var version: Int64?
        /// Whether a user joined while the attributes could not be read.
        var isAwaited: Bool
    }

    func cached(_ channel: ChannelKey) async throws(SignalingError) -> Cached {
        let keys = ChannelKeys(channel)
        let replies = try await redis.answers(to: [
            RedisCommand("GET", key: keys.attributesVersion), RedisCommand("HGET", key: keys.state, "unloaded"),
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
        /// Too early; check again at this time.
        case wait(until: RedisTime)
        /// The channel's time to live has passed.
        case due
        /// It has ended at this time (us of Redis' clock), which is not recorded yet.
        case ended(Int64)
        /// Nobody has ever joined: only the cache must be dropped.
        case idle
        /// The channel does not exist.
        case none
    }

    func expiry(_ channel: ChannelKey) async throws(SignalingError) -> Expiry {
        var parts = try FunctionReply(
            try await redis.answer(to: .function("channel_expiry", tag: KeySpace.tag(channel))))
        switch try parts.text() {
        case "wait": return .wait(until: try parts.time())
        case "due": return .due
        case "ended": return .ended(try parts.int64())
        case "idle": return .idle
        default: return .none
        }
    }

    /// Records a channel that Redis has lost as one whose last member has just left.
    /// - Returns: false when Redis knows the channel.
    func restoreAsEmpty(_ channel: ChannelKey) async throws(SignalingError) -> Bool {
        try await redis.answer(to: .function("channel_adopt", tag: KeySpace.tag(channel))).int == 1
    }

    /// Records the end of a channel, so that webhooks and streams of events tell it. Until this is done, ``expiry(_:)``
    /// reports the end.
    func recordEnd(of channel: ChannelKey, _ ended: Int64) async throws(SignalingError) {
        let asked = try await redis.answers(
            to: mirror.entries(end: ChannelEndRow(channel, ended: ended)),
            thenAsking: [FollowedEvent.audience(of: .channels, in: channel.app)])
        if ServerAnnouncement.mayBeHeard(asked.found[0]) {
            let event = WebhookEvent(.channelDestroyed, in: channel.app, at: ended, .channel(channel.name))
            // Not waited for when its master is away: other timers wait for this one, which comes again.
            let told = await redis.execute(
                [], then: [FollowedEvent(event, in: .channels).publishing], within: .seconds(2))
            guard case .success = told[0] else { throw .unavailable("redis") }
        }
        _ = try await redis.answer(to: RedisCommand("DEL", key: ChannelKeys(channel).end))
    }

    /// Deletes the keys of an empty channel. One that had members leaves a note of its end, see ``recordEnd(of:_:)``.
    /// - Parameter version: the version of the attributes after they were cleared; 0 when they were not.
    /// - Returns: false when the channel has members again, or is followed.
    func delete(_ channel: ChannelKey, version: Int64) async throws(SignalingError) -> Bool {
        try await redis.answer(to: .function("channel_delete", tag: KeySpace.tag(channel), .int64(version))).int == 1
    }
}
