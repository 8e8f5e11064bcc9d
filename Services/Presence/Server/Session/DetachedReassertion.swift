internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import Logging
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// Restores sessions that Redis has lost and that have no connection, as detached. The gateways at which they lost
/// their connections report them.
///
/// Whatever Redis knows of the user is newer than the report. Only an attached session of another gateway may come
/// later: ``SessionReassertion`` then finds the claim of the detached one, which is lower.
struct DetachedReassertion: Sendable {
    let functions: PresenceFunctions
    /// The table from which users' `_conn_timeout` is read where Redis has lost it too.
    let users: UserStore
    let timers: ServiceTimers<PresenceTimer>
    let logger: Logger

    func reassert(
        _ command: ReassertDetachedSessions, _ context: CommandContext
    ) async throws(SignalingError) -> DetachedSessionsReasserted {
        let (gateway, sessions) = (command.gateway, command.sessions)
        var answer = DetachedSessionsReasserted(detached: [], gone: [])
        guard !sessions.isEmpty else { return answer }
        let calls = sessions.map { PresenceFunctions.reassert($0, on: gateway) }
        let replies = try await functions.redis.answers(to: calls)
        var results: [(session: DetachedSession, result: PresenceFunctions.DetachedReassertion)] = []
        for (session, reply) in zip(sessions, replies) {
            results.append((session, try PresenceFunctions.reassertedDetached(reply)))
        }
        let lost = results.filter { $0.result == .unread }.map(\.session)
        results.removeAll { $0.result == .unread }
        results += try await restore(lost, on: gateway)
        _ = try await functions.redis.answers(to: results.flatMap { commands(after: $0.result, $0.session, gateway) })
        for (session, result) in results {
            switch result {
            case .detached, .restored: answer.detached.append(session.held.line.session)
            case .gone: answer.gone.append(session.held.line.session)
            case .attached: break
            case .unread: throw .unreadableAnswer
            }
        }
        logger.info(
            "detached sessions reasserted",
            metadata: [
                "gateway": "\(gateway)", "sessions": "\(sessions.count)", "detached": "\(answer.detached.count)",
                "gone": "\(answer.gone.count)",
            ])
        return answer
    }

    /// Records sessions that Redis has lost, except those whose users were banned.
    private func restore(
        _ lost: [DetachedSession], on gateway: GatewayID
    ) async throws(SignalingError) -> [(session: DetachedSession, result: PresenceFunctions.DetachedReassertion)] {
        guard !lost.isEmpty else { return [] }
        let logins = await logins(of: lost)
        var results: [(session: DetachedSession, result: PresenceFunctions.DetachedReassertion)] = []
        var restored: [DetachedSession] = []
        var calls: [RedisCommand] = []
        for (session, login) in zip(lost, logins) {
            if let login, !login.admits(session.held) {
                results.append((session, .gone))
                continue
            }
            restored.append(session)
            calls.append(PresenceFunctions.reassert(session, on: gateway, timeout: login.connectionTimeout))
        }
        for (session, reply) in zip(restored, try await functions.redis.answers(to: calls)) {
            results.append((session, try PresenceFunctions.reassertedDetached(reply)))
        }
        return results
    }

    /// What PostgreSQL has of the sessions' users; nil while it does not answer: the sessions then have the
    /// default timeout, as with a login.
    private func logins(of sessions: [DetachedSession]) async -> [UserLogin?] {
        do throws(PostgresError) {
            return try await users.logins(of: sessions.map(\.held.line.user))
        } catch {
            logger.warning(
                "detached sessions are restored with the default timeout, because PostgreSQL does not answer",
                metadata: ["sessions": "\(sessions.count)", "error": "\(error)"])
            return sessions.map { _ in nil }
        }
    }

    /// The commands that set the timer, which Redis may have lost also when it has the session, and inform the mirror.
    private func commands(
        after result: PresenceFunctions.DetachedReassertion, _ session: DetachedSession, _ gateway: GatewayID
    ) -> [RedisCommand] {
        let (line, uid) = (session.held.line, session.held.uid)
        switch result {
        case .detached(let over): return [timers.setting(.session(line.user, line.session), at: over)]
        case .restored(let over, let change, let since):
            var row = PresenceMirrorRow(
                of: Actor(user: line.user, uid: uid, session: line.session), version: change, gateway: gateway,
                device: session.held.device, since: since)
            row.detached = true
            return [timers.setting(.session(line.user, line.session), at: over)] + functions.mirror.entries(row)
        case .attached, .gone, .unread: return []
        }
    }
}

extension UserLogin {
    /// Whether the user may still have this session: it is not banned, and the token of its login was not revoked.
    fileprivate func admits(_ session: HeldSession) -> Bool {
        guard bannedUntil == nil else { return false }
        guard let revocation, session.tokenExpiry > 0 else { return true }
        return session.tokenExpiry > revocation.until
    }
}

extension UserLogin? {
    /// The `_conn_timeout` that PostgreSQL has, or the default.
    fileprivate var connectionTimeout: Duration {
        let name = BuiltInAttribute.connectionTimeout
        return ConnectionTimeout.duration(self?.attributes.attributes.first { $0.name.rawValue == name }?.value)
    }
}
