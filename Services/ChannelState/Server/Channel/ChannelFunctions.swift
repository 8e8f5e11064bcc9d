internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol

/// The functions of the libraries `heliograph_channels` and `heliograph_memberships`.
///
/// Every method throws `SignalingError`: a function's refusal, or that Redis is not available.
struct ChannelFunctions: Sendable {
    let redis: RedisClient
    /// Where changes of memberships are recorded for PostgreSQL.
    var mirror = MemberMirror()

    // MARK: - A user's session

    /// What presence answers when a user enters a channel.
    struct EnterResult: Equatable {
        /// The channels that the session still has to leave.
        var leaving: [ChannelName]
        /// Whether the new channel's attributes are cached.
        var attributesAreCached: Bool
        /// Whether users are kept out of the new channel, or muted there.
        var hasRestrictions: Bool
    }

    func enter(
        _ command: JoinChannel, _ id: CommandID, deadline: RedisTime?
    ) async throws(SignalingError) -> EnterResult {
        let keys = ChannelKeys(ChannelKey(app: command.actor.user.app, name: command.channel))
        let replies = try await redis.answers(to: [
            .function(
                "session_enter", tag: KeySpace.tag(command.actor.user), .string(id.rawValue), .deadline(deadline),
                .string(command.actor.session.rawValue), .string(command.channel.rawValue), .int64(command.moveNumber)),
            // A key that is named twice counts twice: one command tells of both.
            RedisCommand(
                "EXISTS", key: keys.attributesVersion, .string(keys.restrictions), .string(keys.restrictions)),
        ])
        let leaving = replies[0].texts.compactMap { try? ChannelName($0) }
        let found = replies[1].int ?? 0
        return EnterResult(leaving: leaving, attributesAreCached: found & 1 == 1, hasRestrictions: found & 2 == 2)
    }

    enum Presence {
        case alive, over, elsewhere
        /// The user has no session.
        case unknown
    }

    /// The command reporting that the session has left all channels it had to leave.
    static func entered(_ actor: Actor, _ channel: ChannelName) -> RedisCommand {
        session("session_entered", actor, channel)
    }

    /// The command that asks which channel the session is in; its reply is a ``Presence``.
    static func sessionPlace(_ actor: Actor) -> RedisCommand {
        RedisCommand("HMGET", key: UserKeys(actor.user).session, "sid", "channel")
    }

    /// Parses the reply to ``sessionPlace(_:)``, for a session that should be in `channel`.
    static func presence(
        _ reply: RedisValue?, _ actor: Actor, _ channel: ChannelName
    ) throws(SignalingError) -> Presence {
        guard let fields = reply?.array, fields.count == 2 else { throw .unreadableAnswer }
        guard let session = fields[0].string else { return .unknown }
        if SessionID(session) != actor.session { return .over }
        return fields[1].string == channel.rawValue ? .alive : .elsewhere
    }

    /// The command reporting that the session is not in the channel any more and need not leave it; see
    /// ``isRestored(_:)`` for its reply.
    /// - Parameter moveNumber: the number of the leave; 0 when it has none.
    static func exit(_ actor: Actor, _ channel: ChannelName, moveNumber: Int64) -> RedisCommand {
        .function(
            "session_exit", tag: KeySpace.tag(actor.user), .string(actor.session.rawValue), .string(channel.rawValue),
            .int64(moveNumber))
    }

    /// Parses the reply to ``exit(_:_:moveNumber:)``.
    /// - Returns: whether a reassertion has restored the member since the session joined, perhaps after it was removed
    ///   for this leave. It must then be forgotten.
    static func isRestored(_ reply: RedisValue?) -> Bool { reply?.int == 2 }

    /// The command reporting that a reassertion has restored the session as a member of the channel.
    static func restored(_ actor: Actor, _ channel: ChannelName) -> RedisCommand {
        session("session_restored", actor, channel)
    }

    /// The command reporting that the session need not leave the channel any more.
    static func forgot(_ actor: Actor, _ channel: ChannelName) -> RedisCommand {
        session("session_forgot", actor, channel)
    }

    private static func session(_ function: String, _ actor: Actor, _ channel: ChannelName) -> RedisCommand {
        .function(
            function, tag: KeySpace.tag(actor.user), .string(actor.session.rawValue), .string(channel.rawValue))
    }

    // MARK: - Members

    struct Left: Equatable {
        var count: Int
        var change: Int64
        var uid: UInt32
        /// How long the channel exists after it became empty.
        var timeToLive: Duration
        var countersDue: CounterDueTimes
        /// The sequence number of the channel's last event up to the leave; nil from a result
        /// that an earlier release has kept.
        var sequence: Int64?
    }

    /// Whether the session is a member of the channel.
    func holds(_ actor: Actor, _ channel: ChannelKey) async throws(SignalingError) -> Bool {
        let info = try await redis.answer(
            to: RedisCommand("HGET", key: ChannelKeys(channel).memberInfo, .string(actor.user.account.rawValue)))
        return info.string.flatMap { MemberInfo(text: $0) }?.session == actor.session
    }

    /// - Parameter deadline: after this time nothing is done; nil for none.
    /// - Returns: nil when the account was not a member by this session.
    func leave(
        _ actor: Actor, _ channel: ChannelKey, _ id: CommandID, deadline: RedisTime?
    ) async throws(SignalingError) -> Left? {
        let reply = try await redis.answer(
            to: .function(
                "channel_leave", tag: KeySpace.tag(channel), .string(id.rawValue), .deadline(deadline),
                .string(actor.user.account.rawValue), .string(actor.session.rawValue),
                channel.name.special == nil ? 0 : 1))
        return try Self.left(reply)
    }

    /// Removes a member whose leave Redis has lost.
    /// - Parameter isTold: whether the other members are informed.
    /// - Returns: nil when the account was not a member by this session.
    func forget(
        _ actor: Actor, _ channel: ChannelKey, isTold: Bool
    ) async throws(SignalingError) -> Left? {
        try Self.left(
            try await redis.answer(
                to: .function(
                    "channel_forget", tag: KeySpace.tag(channel), .string(actor.user.account.rawValue),
                    .string(actor.session.rawValue), isTold ? 1 : 0)))
    }

    private static func left(_ reply: RedisValue) throws(SignalingError) -> Left? {
        var parts = try FunctionReply(reply)
        if parts.isEmpty { return nil }
        var left = Left(
            count: try parts.int(), change: try parts.int64(), uid: try parts.uint32(),
            timeToLive: .seconds(try parts.int64()), countersDue: Self.countersDue(members: try parts.time()))
        if !parts.isEmpty { left.sequence = try parts.int64() }
        return left
    }

    struct Reasserted: Equatable {
        /// The number of the change, for the mirror; nil when nothing changed.
        var change: Int64?
        var countersDue: CounterDueTimes
        var added: Set<Account>
    }

    /// Adds members that Redis does not know.
    func reassert(_ members: [HeldMember], _ channel: ChannelKey) async throws(SignalingError) -> Reasserted {
        let arguments = members.flatMap {
            [
                RedisArgument.string($0.member.account.rawValue), .int($0.member.uid),
                .string($0.session.rawValue),
            ]
        }
        var parts = try FunctionReply(
            try await redis.answer(
                to: .function("channel_reassert", tag: KeySpace.tag(channel), arguments: arguments)))
        return Reasserted(
            change: Int64(try parts.text()),
            countersDue: Self.countersDue(members: try parts.time(), total: try parts.time()),
            added: Set(parts.remainingTexts.compactMap { try? Account($0) }))
    }

    /// Records that an account is not a member, when Redis does not know it and only PostgreSQL's copy has it.
    /// - Parameter isTold: whether the other members are informed that it has left.
    /// - Returns: the number of the change, in us; nil when the account is a member after all.
    func memberForgotten(_ row: MemberMirrorRow, isTold: Bool) async throws(SignalingError) -> Int64? {
        let reply = try await redis.answer(
            to: .function(
                "channel_member_forgotten", tag: KeySpace.tag(row.channel), .string(row.account.rawValue),
                .int(row.uid), isTold && row.channel.name.special == nil ? 1 : 0))
        guard let change = reply.string.flatMap({ Int64($0) }) else { throw .unreadableAnswer }
        return change == 0 ? nil : change
    }

    struct MemberPage: Equatable {
        var total: Int
        /// The cursor for the next page; nil after the last one.
        var next: String?
        var members: [Member]
    }

    /// Members, beginning with the latest.
    /// - Parameter below: ``MemberPage/next`` of the previous page.
    func members(_ channel: ChannelKey, below: String?, limit: Int) async throws(SignalingError) -> MemberPage {
        let reply = try await redis.answer(
            to: .function("channel_members", tag: KeySpace.tag(channel), .string(below ?? "+inf"), .int(limit)))
        var parts = try FunctionReply(reply)
        let (total, last) = (try parts.int(), try parts.text())
        let members = try Self.members(parts.remainingTexts)
        return MemberPage(total: total, next: members.count < limit ? nil : last, members: members)
    }

    /// Parses pairs of an account and the text of its ``MemberInfo``.
    private static func members(_ texts: [String]) throws(SignalingError) -> [Member] {
        var members: [Member] = []
        members.reserveCapacity(texts.count / 2)
        for index in stride(from: 0, to: texts.count - 1, by: 2) {
            let info = MemberInfo(text: texts[index + 1])
            members.append(Member(account: try Account(texts[index]), uid: info?.uid ?? 0))
        }
        return members
    }
}
