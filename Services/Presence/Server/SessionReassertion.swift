internal import Logging
internal import PostgresStore
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Records again what gateways hold, after Redis was away or came back empty.
struct SessionReassertion: Sendable {
    let functions: PresenceFunctions
    let logger: Logger

    func reassert(
        _ command: ReassertSessions, _ context: CommandContext
    ) async throws(SignalingError) -> SessionsReasserted {
        guard !command.sessions.isEmpty else { return SessionsReasserted(lost: []) }
        let started = try await redisStarted()
        let timeouts = try await functions.all(
            command.sessions.map {
                RedisCommand(
                    "HGET", .string(KeySpace.tag($0.line.user) + ":attrs"), .string(BuiltInAttribute.connectionTimeout))
            })
        let calls = zip(command.sessions, timeouts).map { held, timeout in
            PresenceFunctions.reassert(
                held, on: command.gateway, timeout: ConnectionTimeout.seconds(timeout.string), redisStarted: started)
        }
        // The routes first: a crash in between must not leave a session that nobody would find.
        let routes = PresenceFunctions.addRoutes(command.sessions.map(\.line), to: command.gateway)
        let replies = try await functions.all([routes] + calls).dropFirst()
        var lost: [SessionID] = []
        var after: [RedisCommand] = []
        for (held, reply) in zip(command.sessions, replies) {
            let fields = PresenceFunctions.texts(reply)
            guard fields.count == 3, let change = Int64(fields[1]), let since = Int64(fields[2]) else {
                lost.append(held.line.session)
                after.append(PresenceFunctions.removeRoute(held.line.user, held.line.session, from: command.gateway))
                continue
            }
            let row = PresenceMirrorRow(
                user: held.line.user, version: change, present: true, uid: held.uid, session: held.line.session,
                gateway: command.gateway, device: held.device, detached: false, since: since)
            after.append(PresenceMirror.entry(row))
        }
        _ = try await functions.all(after)
        logger.notice(
            "sessions reasserted",
            metadata: [
                "gateway": "\(command.gateway)", "sessions": "\(command.sessions.count)", "lost": "\(lost.count)",
            ])
        return SessionsReasserted(lost: lost)
    }

    /// When this Redis process began, ms on its clock: older records may lack what was written last before it.
    private func redisStarted() async throws(SignalingError) -> Int64 {
        let info = try await functions.one(RedisCommand("INFO", "server")).string ?? ""
        let prefix = "uptime_in_seconds:"
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(prefix) }
        guard let line, let uptime = Int64(line.dropFirst(prefix.count)) else { throw PresenceFunctions.shape }
        return try await functions.now() - uptime * 1000
    }
}
