internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import MessageStore
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// The functions of ``RedisFunctionLibrary/presence``, and other reads.
///
/// Every method throws `SignalingError`: a function's refusal, or that Redis is not available.
struct PresenceFunctions: Sendable {
    /// How long staged attributes are kept that no process takes into the cache, because the one that staged them died.
    private static let stagingLife = Duration.seconds(60)

    let redis: RedisClient
    /// Where changes of sessions are recorded for PostgreSQL.
    var mirror = PresenceMirror()

    // MARK: - Sessions

    /// What Redis knows about a user.
    struct KnownUser: Equatable {
        var uid: UInt32?
        var session: SessionID?
        var attributesAreCached: Bool
        var connectionTimeout: String?
    }

    func known(_ user: UserKey) async throws(SignalingError) -> KnownUser {
        let keys = UserKeys(user)
        let replies = try await redis.answers(to: [
            RedisCommand("HMGET", key: keys.box, arguments: ["uid", "sid"]),
            RedisCommand("EXISTS", key: keys.attributesVersion),
            RedisCommand("HGET", key: keys.attributes, .string(BuiltInAttribute.connectionTimeout)),
        ])
        guard let box = replies[0].array, box.count == 2 else { throw .unreadableAnswer }
        return KnownUser(
            uid: box[0].string.flatMap(UInt32.init),
            session: box[1].string.flatMap { $0.isEmpty ? nil : SessionID($0) },
            attributesAreCached: replies[1].int == 1, connectionTimeout: replies[2].string)
    }

    struct Opened: Equatable {
        var change: Int64
        var hold: SessionHold
        /// The mailbox, if nothing waits in it.
        var mail: EmptyMailbox?
        var replaced: EndedSession?
        /// Whether the gateway has a lease, as far as is known; otherwise nobody would notice its loss.
        var gatewayLives: Bool
        /// Whether a server may be in the special channel where logins are announced.
        var hasAudience: Bool
    }

    /// - Parameters:
    ///   - timeout: how long the session outlives its connection, in whole seconds.
    ///   - read: the user's attributes as read from PostgreSQL, to be cached; nil when they are cached.
    /// - Returns: nil when the attributes must be read again, because a later commit is known.
    func open(
        _ command: OpenSession, _ context: CommandContext, uid: UInt32, timeout: Duration,
        caching read: VersionedAttributes?
    ) async throws(SignalingError) -> Opened? {
        let line = command.line
        var attributes: [RedisArgument] = [""]
        if let read {
            attributes = [.int64(read.version)]
            for attribute in read.attributes {
                attributes += [.string(attribute.name.rawValue), .string(attribute.value)]
            }
        }
        let opening = RedisCommand.function(
            "session_open", tag: KeySpace.tag(line.user),
            arguments: [
                .deadline(context.deadline), .string(command.gateway.rawValue),
                .string(line.session.rawValue), .string(line.secret), .int(uid), .string(command.device),
                command.push ? 1 : 0, .seconds(timeout), .int64(command.tokenExpiry), .string(command.address ?? ""),
            ] + attributes)
        // The lease is looked at after the session has been opened: if it lives then, the watcher that
        // finds it ended later also finds the session, by its route. The lease and the app's special
        // channel may be at masters that are away.
        let replies = try await redis.answers(
            to: [opening],
            thenAsking: [
                GatewayLeases.question(about: command.gateway), ServerAnnouncement.userAudience(in: line.user.app),
            ])
        var parts = try FunctionReply(replies.answers[0])
        if parts.isEmpty { return nil }
        return Opened(
            change: try parts.int64(), hold: SessionHold(since: try parts.time(), claim: try parts.int64()),
            mail: EmptyMailbox(cleared: Int64(try parts.text()), highest: Int64(try parts.text())),
            replaced: EndedSession(fields: parts.remainingTexts),
            gatewayLives: replies.found[0].flatMap { GatewayLeases.remaining($0) } != nil,
            hasAudience: ServerAnnouncement.mayBeHeard(replies.found[1]))
    }

    struct Resumed: Equatable {
        var answer: SessionResumed
        var change: Int64
        var device: String
    }

    func resume(_ command: ResumeSession, _ id: CommandID, deadline: RedisTime?) async throws(SignalingError) -> Resumed
    {
        let line = command.line
        let reply = try await redis.answer(
            to: .function(
                "session_resume", tag: KeySpace.tag(line.user), .string(id.rawValue), .deadline(deadline),
                .string(command.gateway.rawValue), .string(line.session.rawValue), .string(line.secret),
                .string(command.address ?? "")))
        var parts = try FunctionReply(reply)
        let (uid, channel, push) = (try parts.uint32(), try parts.text(), try parts.text())
        let (change, device, since) = (try parts.int64(), try parts.text(), try parts.time())
        let (expiry, claim) = (try parts.int64(), try parts.int64())
        var answer = SessionResumed(
            uid: uid, channel: try? ChannelName(channel), push: push == "1", tokenExpiry: expiry,
            hold: SessionHold(since: since, claim: claim))
        answer.moveNumber = try parts.int64()
        answer.mail = EmptyMailbox(cleared: Int64(try parts.text()), highest: Int64(try parts.text()))
        return Resumed(answer: answer, change: change, device: device)
    }

    struct Detached: Equatable {
        /// When the session times out.
        var over: RedisTime
        var change: Int64
        var uid: UInt32
        var device: String
        /// When the session began.
        var since: RedisTime
    }

    /// Why a session is detached.
    enum DetachCause {
        /// Its gateway reports that the connection was lost, with its claim on the session as far as it knows it.
        case connectionLost(claim: Int64?)
        /// Its gateway was lost.
        case gatewayLost(since: RedisTime, foundAt: RedisTime)
    }

    static func detach(
        _ route: SessionRoute, from gateway: GatewayID, _ cause: DetachCause, _ context: CommandContext
    ) -> RedisCommand {
        let (lostSince, foundAt, claim): (Int64, Int64, Int64) =
            switch cause {
            case .connectionLost(let claim): (0, 0, claim ?? 0)
            case .gatewayLost(let since, let foundAt): (since.milliseconds, foundAt.milliseconds, 0)
            }
        return .function(
            "session_detach", tag: KeySpace.tag(route.user), .string(context.id.rawValue), .deadline(context.deadline),
            .string(gateway.rawValue), .string(route.session.rawValue), .int64(lostSince), .int64(foundAt),
            .int64(claim))
    }

    /// The result of a detach.
    enum Detachment: Equatable {
        /// The session is now detached.
        case detached(Detached)
        /// The session stays attached, because it was attached again since.
        case kept
        /// The gateway does not hold the session.
        case absent
    }

    /// Parses the reply to ``detach(_:from:_:_:)``.
    static func detached(_ reply: RedisValue) throws(SignalingError) -> Detachment {
        var parts = try FunctionReply(reply)
        if parts.isEmpty { return .absent }
        if parts.remainingTexts == ["kept"] { return .kept }
        return .detached(
            Detached(
                over: try parts.time(), change: try parts.int64(), uid: try parts.uint32(), device: try parts.text(),
                since: try parts.time()))
    }

    /// - Returns: nil when it was not the user's current session.
    func close(_ command: CloseSession, _ id: CommandID, deadline: RedisTime?) async throws(SignalingError)
        -> EndedSession?
    {
        let reply = try await redis.answer(
            to: .function(
                "session_close", tag: KeySpace.tag(command.user), .string(id.rawValue), .deadline(deadline),
                .string(command.session.rawValue), .int(command.reason.rawValue)
            ).durable)
        return EndedSession(fields: reply.texts)
    }

    /// What the timer of a session finds.
    enum TimeoutCheck: Equatable {
        case ended(EndedSession)
        case wait(until: RedisTime)
        case none
    }

    /// - Parameter since: when Redis began to answer: clients could not resume before. Nil when that does not matter.
    func due(_ user: UserKey, _ session: SessionID, since: RedisTime?) async throws(SignalingError) -> TimeoutCheck {
        let reply = try await redis.answer(
            to: .function(
                "session_due", tag: KeySpace.tag(user), .string(session.rawValue), .int64(since?.milliseconds ?? 0)
            ).durable)
        var parts = try FunctionReply(reply)
        switch try parts.text() {
        case "ended":
            guard let ended = EndedSession(fields: parts.remainingTexts) else { throw .unreadableAnswer }
            return .ended(ended)
        case "wait": return .wait(until: try parts.time())
        default: return .none
        }
    }

    static func ended(_ user: UserKey, _ session: SessionID) -> RedisCommand {
        .function("session_ended", tag: KeySpace.tag(user), .string(session.rawValue))
    }

    // MARK: - Attributes

    struct MovedDeadline: Equatable {
        var session: SessionID
        var over: RedisTime
    }

    /// The command that asks whether the session may set the attribute, as the last check before the commit in
    /// PostgreSQL. The app's server always may, within the bounds.
    static func begin(
        _ name: AttributeName, of user: UserKey, in session: SessionID, _ context: CommandContext
    ) -> RedisCommand {
        .function(
            "user_attribute_begin", tag: KeySpace.tag(user), .deadline(context.deadline), .string(session.rawValue),
            .string(context.asker?.id ?? ""), .string(name.rawValue))
    }

    struct Committed: Equatable {
        /// Whether this version was cached already.
        var isKnown: Bool
        /// The detached session whose timeout has changed with the attribute, and its new end.
        var moved: MovedDeadline?
    }

    /// Applies a committed change of an attribute to the cache.
    /// - Parameter value: nil when it was deleted.
    func committed(
        _ name: AttributeName, _ value: String?, of user: UserKey, version: Int64
    ) async throws(SignalingError) -> Committed {
        let timeout = value.flatMap { UserAttributeRules.sessionTimeout(Attribute(name: name, value: $0)) }
        let reply = try await redis.answer(
            to: .function(
                "user_attribute_committed", tag: KeySpace.tag(user), .int64(version), .string(name.rawValue),
                .string(value ?? ""), timeout.map { .seconds($0) } ?? "", value == nil ? 1 : 0)
        )
        var parts = try FunctionReply(reply)
        let isKnown = try parts.text() == "known"
        if parts.isEmpty { return Committed(isKnown: isKnown) }
        let session = SessionID(try parts.text())
        return Committed(isKnown: isKnown, moved: MovedDeadline(session: session, over: try parts.time()))
    }

    /// The version of the cached attributes; nil when none are cached.
    func cachedVersion(of user: UserKey) async throws(SignalingError) -> Int64? {
        try await redis.answer(to: RedisCommand("GET", key: UserKeys(user).attributesVersion)).string.flatMap {
            Int64($0)
        }
    }

    /// Puts PostgreSQL's attributes into the cache. Many are first staged under another key, in steps, so that no
    /// single call blocks Redis.
    /// - Returns: false when the attributes must be read again, because a later commit is known.
    func load(_ attributes: [Attribute], of user: UserKey, version: Int64) async throws(SignalingError) -> Bool {
        let keys = UserKeys(user)
        let steps = AttributeSteps.of(attributes)
        guard steps.count > 1 else {
            return try await redis.answer(
                to: .function(
                    "user_attributes_load", tag: keys.tag, arguments: [.int64(version)] + Self.pairs(attributes[...]))
            ).int == 1
        }
        let staging = SecureRandom.hex(bytes: 8)
        let key = keys.stagedAttributes(staging)
        var rest = attributes[...]
        for step in steps {
            let some = rest.prefix(step.count)
            rest = rest.dropFirst(step.count)
            _ = try await redis.answers(to: [
                RedisCommand("HSET", key: key, arguments: Self.pairs(some)),
                RedisCommand("PEXPIRE", key: key, .milliseconds(Self.stagingLife)),
            ])
        }
        return try await redis.answer(
            to: .function("user_attributes_take", tag: keys.tag, .int64(version), .string(staging))
        ).int
            == 1
    }

    private static func pairs(_ attributes: ArraySlice<Attribute>) -> [RedisArgument] {
        attributes.flatMap { [RedisArgument.string($0.name.rawValue), .string($0.value)] }
    }

    // MARK: - Routes

    /// The commands that remove routes of a gateway, one per bucket.
    static func removing(_ routes: [FoundRoute], of gateway: GatewayID) -> [RedisCommand] {
        Dictionary(grouping: routes, by: \.bucket).map { bucket, routes in
            let key = KeySpace.routes(gateway, bucket: bucket)
            return RedisCommand("SREM", key: key, arguments: routes.map { .string($0.text) })
        }
    }
}
