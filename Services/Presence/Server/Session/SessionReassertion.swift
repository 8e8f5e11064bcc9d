internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import Logging
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// Compares the sessions that a gateway holds with those in Redis: restores those that Redis has lost, and reports to
/// the gateway which of its sessions have ended.
struct SessionReassertion: Sendable {
    let functions: PresenceFunctions
    let ending: SessionEnding
    let timers: ServiceTimers<PresenceTimer>
    let logger: Logger

    func reassert(
        _ command: ReassertSessions, _ context: CommandContext
    ) async throws(SignalingError) -> SessionsReasserted {
        let gateway = command.gateway
        guard !command.sessions.isEmpty else { return SessionsReasserted(held: [], lost: []) }
        let replies = try await functions.redis.answers(
            to: command.sessions.map { PresenceFunctions.reassert($0, on: gateway) })
        var answer = SessionsReasserted(held: [], lost: [])
        var after: [RedisCommand] = []
        for (session, reply) in zip(command.sessions, replies) {
            var result = try PresenceFunctions.reasserted(reply)
            if case .older(let older) = result { result = try await replace(older, by: session, on: gateway) }
            switch result {
            case .held(let held):
                answer.held.append(.init(session: session.line.session, mailbox: held.mailbox))
                after += commands(after: held, session, gateway, context.id)
            case .lost(let reason):
                answer.lost.append(.init(session: session.line.session, code: reason.closing))
            case .moved: answer.lost.append(.init(session: session.line.session, code: nil))
            case .older: throw .unreadableAnswer
            }
        }
        _ = try await functions.redis.answers(to: after)
        logger.info(
            "sessions reasserted",
            metadata: [
                "gateway": "\(gateway)", "sessions": "\(command.sessions.count)", "lost": "\(answer.lost.count)",
                "changed": "\(after.count)",
            ])
        return answer
    }

    /// Ends an older session of the account, which Redis still has because it has lost the login that replaced it.
    private func replace(
        _ older: SessionID, by held: HeldSession, on gateway: GatewayID
    ) async throws(SignalingError) -> PresenceFunctions.Reassertion {
        let user = held.line.user
        // If this process dies, the timer completes the older session's end.
        try await timers.set(.session(user, older), after: SessionEnding.patience)
        let result = try PresenceFunctions.reasserted(
            try await functions.redis.answer(to: PresenceFunctions.reassert(held, on: gateway, replacing: older)))
        if case .ended(let ended) = try await functions.due(user, older, since: nil) {
            try await ending.carryOut(ended, of: user)
        }
        return result
    }

    /// The commands that inform the mirror, and channel-state of a leave that Redis had lost.
    private func commands(
        after held: PresenceFunctions.Held, _ session: HeldSession, _ gateway: GatewayID, _ id: CommandID
    ) -> [RedisCommand] {
        var after: [RedisCommand] = []
        let line = session.line
        if let change = held.change {
            let row = PresenceMirrorRow(
                of: Actor(user: line.user, uid: session.uid, session: line.session), version: change,
                gateway: gateway, device: session.device, since: held.since)
            after += functions.mirror.entries(row)
        }
        if let channel = held.wrongChannel {
            let actor = Actor(user: line.user, uid: session.uid, session: line.session)
            after.append(
                PostedCommand.command(
                    on: functions.redis.bus, for: ForgetMember(actor: actor, channel: channel),
                    id: id.derived("forget-\(line.session)")))
        }
        return after
    }
}

extension SignalingCode {
    /// The code with which the client of a session is closed that ended for this reason.
    fileprivate var closing: SignalingCode {
        switch self {
        case .leaveKicked: .logoutKicked
        case .leaveLogout: .logoutUser
        case .leaveDisconnected: .logoutNetwork
        default: .logoutOther
        }
    }
}
