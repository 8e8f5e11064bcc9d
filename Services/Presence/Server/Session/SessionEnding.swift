internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import Logging
internal import MessageStore
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Carries out the consequences of a session's end. Interrupted work is repeated from the start, which does no harm.
struct SessionEnding: Sendable {
    /// How long after a session's end a timer repeats the consequences, unless ``begin(_:of:for:)`` has finished them
    /// and removed it.
    static let patience = Duration.seconds(10)

    let functions: PresenceFunctions
    let timers: ServiceTimers<PresenceTimer>
    let logger: Logger

    /// - Throws: `SignalingError` when a step fails; the session's timer repeats all steps.
    func carryOut(_ ended: EndedSession, of user: UserKey) async throws(SignalingError) {
        _ = try await functions.redis.answers(to: consequences(of: ended, user, CommandCause()))
        // Only after the pipeline above has succeeded; otherwise the timer must repeat it. In a cluster its commands
        // may be on another server, which must not lose them once this record of the end is gone.
        _ = try await functions.redis.answer(to: PresenceFunctions.ended(user, ended.session))
        Self.log(ended, of: user, logger)
    }

    /// Carries out the consequences without waiting for servers that are away: the app's special channels and the
    /// user's channel may be at others than the user. What fails is repeated by the session's timer, which must be set.
    /// - Parameter context: the command that has ended it; nil when none has, as at a timer.
    /// - Returns: whether all was done within a short wait; otherwise it goes on, or has failed.
    @discardableResult
    func begin(_ ended: EndedSession, of user: UserKey, for context: CommandContext? = nil) async -> Bool {
        let logger = context.map { self.logger.about($0) } ?? self.logger
        let isDone = await functions.redis.begin(
            consequences(of: ended, user, context?.cause ?? CommandCause()),
            thenIfDone: PresenceFunctions.ended(user, ended.session),
            removing: timers.cancelling(.session(user, ended.session))
        ) { error in
            logger.warning(
                "could not complete the consequences of a session's end; its timer repeats them",
                metadata: ["account": "\(user.account)", "session": "\(ended.session)", "error": "\(error)"])
        }
        Self.log(ended, of: user, logger)
        return isDone
    }

    /// - Parameter cause: the request that has ended the session, of which the commands and the event tell.
    private func consequences(
        of ended: EndedSession, _ user: UserKey, _ cause: CommandCause
    ) -> [RedisCommand] {
        // The ids derive from the session, which ends only once: every process that does this sends the same commands.
        let base = CommandID(ended.session.rawValue)
        var commands: [RedisCommand] = []
        for consequence in ended.consequences {
            switch consequence {
            case .leave(let channel, let reason):
                let actor = Actor(user: user, uid: ended.uid, session: ended.session)
                let leave = LeaveChannel(actor: actor, channel: channel, reason: reason)
                let id = base.derived("leave-\(PercentEscape.escape(channel.rawValue))")
                commands.append(PostedCommand.command(on: functions.redis.bus, for: leave, id: id, cause: cause))
            case .endCalls:
                let end = EndSessionCalls(user: user, session: ended.session)
                commands.append(
                    PostedCommand.command(
                        on: functions.redis.bus, for: end, id: base.derived("calls"), cause: cause))
            case .offline(let reason):
                let offline = MirrorCause(.offline, reason: reason, for: EventRequest(cause))
                commands += functions.mirror.entries(row(ended, of: user, offline))
                let actor = Actor(user: user, uid: ended.uid, session: ended.session)
                let announcement = ServerAnnouncement(.offline(reason), of: actor, at: ended.time)
                commands.append(announcement.publishing(base.derived("offline")))
                PresenceMetrics.shared.closed.increment()
            }
        }
        return commands.map(\.durable)
    }

    private static func log(_ ended: EndedSession, of user: UserKey, _ logger: Logger) {
        logger.info(
            "session ended",
            metadata: [
                "app": "\(user.app)", "account": "\(user.account)", "session": "\(ended.session)",
                "reason": "\(ended.reason.rawValue)",
            ])
    }

    private func row(_ ended: EndedSession, of user: UserKey, _ cause: MirrorCause) -> PresenceMirrorRow {
        var row = PresenceMirrorRow(
            of: Actor(user: user, uid: ended.uid, session: ended.session), version: ended.change,
            gateway: ended.gateway, device: ended.device, since: ended.since)
        row.present = false
        row.cause = cause
        return row
    }
}
