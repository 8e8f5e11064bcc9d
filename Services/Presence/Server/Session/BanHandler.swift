internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import Logging
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Bans users.
///
/// A ban is written to PostgreSQL, then to the user's `:box` in Redis, and then the session is ended: from the second
/// step on no session can be opened, so that none slips in before the third. Redis keeps the latest version of a user's
/// ban, whatever the order in which the writes arrive.
struct BanHandler: Sendable {
    let store: BanStore
    let audit: AuditStore
    let functions: PresenceFunctions
    let sessions: SessionHandler
    let logger: Logger

    func ban(_ command: BanUser, _ context: CommandContext) async throws(SignalingError) -> UserBan {
        let entry = try await answerOfPostgres(or: Self.refusal) { () throws(PostgresError) in
            try await store.set(command.user, until: command.until, reason: command.reason, by: AuditCause(context))
        }
        guard let entry else { throw SignalingError(.loginRejected, .unknownApp, "there is no app with that id") }
        _ = try await functions.redis.answer(to: Self.noting(entry))
        _ = try await sessions.disconnect(DisconnectUser(user: command.user), context)
        logger.about(context).info(
            "user banned",
            metadata: ["app": "\(command.user.app)", "account": "\(command.user.account)", "until": "\(command.until)"])
        return entry.ban
    }

    func find(_ command: GetBan, _ context: CommandContext) async throws(SignalingError) -> UserBan {
        let ban = try await answerOfPostgres { () throws(PostgresError) in try await store.find(command.user) }
        guard let ban else { throw SignalingError(.failed, .notBanned, "the user is not banned") }
        return ban
    }

    func lift(_ command: LiftBan, _ context: CommandContext) async throws(SignalingError) -> Done {
        let entry = try await answerOfPostgres { () throws(PostgresError) in
            try await store.lift(command.user, by: AuditCause(context))
        }
        _ = try await functions.redis.answer(
            to: .noting(banOf: command.user, until: 0, tokens: entry.tokensUntil, version: entry.version))
        logger.about(context).info(
            "ban lifted", metadata: ["app": "\(command.user.app)", "account": "\(command.user.account)"])
        return Done()
    }

    /// Revokes login tokens. As with bans, no session is opened with one of them from the write to Redis on.
    func revokeTokens(_ command: RevokeTokens, _ context: CommandContext) async throws(SignalingError) -> RevokedTokens
    {
        let entry = try await answerOfPostgres(or: Self.refusal) { () throws(PostgresError) in
            try await store.revokeTokens(of: command.user, until: command.until, by: AuditCause(context))
        }
        guard let entry else { throw SignalingError(.loginRejected, .unknownApp, "there is no app with that id") }
        _ = try await functions.redis.answer(to: Self.noting(entry))
        logger.about(context).info(
            "tokens revoked",
            metadata: [
                "app": "\(command.user.app)", "account": "\(command.user.account)", "until": "\(entry.tokensUntil)",
            ])
        return RevokedTokens(until: entry.tokensUntil)
    }

    func findRevoked(_ command: GetRevokedTokens, _ context: CommandContext) async throws(SignalingError)
        -> RevokedTokens
    {
        try await answerOfPostgres { () throws(PostgresError) in
            if let seconds = command.mintedSeconds {
                try await audit.note(.mint(seconds: seconds), to: command.user, by: AuditCause(context))
            }
            return RevokedTokens(until: try await store.tokensUntil(of: command.user))
        }
    }

    /// Ends a session because a request asks for it. A command to which nobody wants a
    /// reply comes from a ban, or from
    /// `heliographctl`, which have entries in the audit trail already.
    func disconnect(_ command: DisconnectUser, _ context: CommandContext) async throws(SignalingError) -> Done {
        if context.asker != nil {
            try await answerOfPostgres { () throws(PostgresError) in
                try await audit.note(.disconnect, to: command.user, by: AuditCause(context))
            }
        }
        return try await sessions.disconnect(command, context)
    }

    private static func refusal(_ error: PostgresError) -> SignalingError {
        guard error.isBoundOfApp else { return error.signaling }
        PresenceMetrics.shared.bansRefused.increment()
        return SignalingError(.failed, .tooManyBans, "\(error.message); those that are over count for a day")
    }

    static func noting(_ entry: BanStore.Entry) -> RedisCommand {
        .noting(
            banOf: entry.user, until: entry.ban.until, tokens: entry.tokensUntil, version: entry.version)
    }
}
