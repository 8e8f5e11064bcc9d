internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// Compares sessions that a gateway holds, or that PostgreSQL's copy has, with those in Redis.
extension PresenceFunctions {
    /// The result of a reassertion.
    enum Reassertion: Equatable {
        /// The gateway holds the session.
        case held(Held)
        /// The session has ended.
        case lost(reason: SignalingCode)
        /// Another gateway took the session over later.
        case moved
        /// Redis has another session of the account, opened earlier; a second call with that id replaces it.
        case older(SessionID)
    }

    struct Held: Equatable {
        /// The number of the change; nil when the mirror need not be informed.
        var change: Int64?
        /// When the session began.
        var since: RedisTime
        /// The last version assigned in the user's mailbox.
        var mailbox: Int64
        /// A channel that Redis had recorded wrongly; the session is now recorded as having to leave it.
        var wrongChannel: ChannelName?
    }

    static func reassert(
        _ held: HeldSession, on gateway: GatewayID, replacing older: SessionID? = nil
    ) -> RedisCommand {
        .function(
            "session_reassert", tag: KeySpace.tag(held.line.user),
            arguments: arguments(of: held, on: gateway) + [
                .int(Limits.connectionTimeoutDefault), .string(older?.rawValue ?? ""), .string(held.address ?? ""),
            ])
    }

    private static func arguments(of held: HeldSession, on gateway: GatewayID) -> [RedisArgument] {
        [
            .string(gateway.rawValue), .string(held.line.session.rawValue), .string(held.line.secret), .int(held.uid),
            .string(held.device), held.push ? 1 : 0, .time(held.hold.since), .int64(held.hold.claim),
            .int64(held.tokenExpiry), .int64(held.place.isSettled ? held.place.moveNumber : -1),
            .string(held.place.isSettled ? held.place.channel?.rawValue ?? "" : ""),
        ]
    }

    /// Parses the reply to ``reassert(_:on:replacing:)``.
    static func reasserted(_ reply: RedisValue) throws(SignalingError) -> Reassertion {
        var parts = try FunctionReply(reply)
        switch try parts.text() {
        case "held", "kept", "restored":
            var held = Held(
                change: Int64(try parts.text()), since: try parts.time(), mailbox: try parts.int64())
            held.wrongChannel = try? ChannelName(try parts.text())
            return .held(held)
        case "lost": return .lost(reason: Int(try parts.text()).flatMap(SignalingCode.init) ?? .leaveOther)
        case "moved": return .moved
        case "older": return .older(SessionID(try parts.text()))
        default: throw .unreadableAnswer
        }
    }

    /// The result of a reassertion of a detached session.
    enum DetachedReassertion: Equatable {
        /// It was recorded as detached already, until then.
        case detached(over: RedisTime)
        /// Redis had lost it; it is recorded as detached now.
        case restored(over: RedisTime, change: Int64, since: RedisTime)
        /// It is recorded as attached to the gateway.
        case attached
        /// It has ended, is elsewhere, or the user has another session.
        case gone
        /// Redis has lost it, and the user's `_conn_timeout` too: a second call with that records it.
        case unread
    }

    /// - Parameter timeout: the user's `_conn_timeout` as read from PostgreSQL; nil before it was read.
    static func reassert(
        _ session: DetachedSession, on gateway: GatewayID, timeout: Duration? = nil
    ) -> RedisCommand {
        .function(
            "session_reassert_detached", tag: KeySpace.tag(session.held.line.user),
            arguments: arguments(of: session.held, on: gateway) + [
                timeout.map { .seconds($0) } ?? "", .time(session.lostAt), .string(session.held.address ?? ""),
            ])
    }

    /// Parses the reply to ``reassert(_:on:timeout:)``.
    static func reassertedDetached(_ reply: RedisValue) throws(SignalingError) -> DetachedReassertion {
        var parts = try FunctionReply(reply)
        switch try parts.text() {
        case "detached": return .detached(over: try parts.time())
        case "restored":
            return .restored(over: try parts.time(), change: try parts.int64(), since: try parts.time())
        case "attached": return .attached
        case "gone": return .gone
        case "unread": return .unread
        default: throw .unreadableAnswer
        }
    }

    /// The result for a session that PostgreSQL's copy has and Redis does not.
    enum ForgetResult: Equatable {
        /// The session is now recorded as ended.
        case ended(EndedSession)
        /// The session had ended before. `change` is the number under which the mirror records it.
        case over(change: Int64)
        /// The user has a session after all.
        case present
    }

    func forgotten(
        _ row: PresenceMirrorRow, channels: [ChannelName]
    ) async throws(SignalingError) -> ForgetResult {
        let reply = try await redis.answer(
            to: .function(
                "session_forgotten", tag: KeySpace.tag(row.user), .string(row.session.rawValue),
                .string(row.gateway.rawValue), .int(row.uid), .string(row.device), .time(row.since),
                .string(ChannelLines.text(channels))))
        var parts = try FunctionReply(reply)
        switch try parts.text() {
        case "ended":
            guard let ended = EndedSession(fields: parts.remainingTexts) else { throw .unreadableAnswer }
            return .ended(ended)
        case "over": return .over(change: try parts.int64())
        case "present": return .present
        default: throw .unreadableAnswer
        }
    }
}
