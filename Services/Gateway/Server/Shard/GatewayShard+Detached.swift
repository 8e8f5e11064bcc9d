internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayLogic
internal import Logging
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Reasserts the sessions that lost their connections here a short time ago, on the same occasions as those
/// that the shard holds: if Redis has lost them, they are recorded again as detached, with the times at
/// which their connections were lost.
extension GatewayShard {
    /// Remembers a session whose connection was lost, unless another connection of this shard has taken it over.
    func remember(_ held: HeldSession) {
        guard sessions[held.line.session] == nil else { return }
        if detachedSessions.keep(held, now: .now) { GatewayMetrics.shared.detachedForgotten.increment() }
    }

    /// Reasserts the detached sessions of users, or in channels, in these slots.
    func reassertDetached(_ slots: SlotScope) {
        let concerned = detachedSessions.sessions(now: .now) { held in
            if slots.contains(subject: .user(held.line.user)) { return true }
            guard let channel = held.channel else { return false }
            return slots.contains(subject: .channel(channel))
        }
        guard !concerned.isEmpty else { return }
        logger.notice(
            "reasserting detached sessions", metadata: ["sessions": "\(concerned.count)", "slots": "\(slots.text)"])
        detachedReassertion.want(concerned) { partition(ofDetached: $0) }
        tellDetachedSessions()
    }

    /// The partition of a detached session's user; nil when the session is not remembered any more.
    func partition(ofDetached session: SessionID) -> Int? {
        detachedSessions.entry(of: session, now: .now).map {
            redis.bus.partition(of: .user($0.held.line.user)).number
        }
    }

    /// Sends the reassertions of detached sessions that are due.
    func tellDetachedSessions() {
        while let request = detachedReassertion.next(isReachable: { isReachable(partition: $0) }) {
            switch request {
            case .sessions(let ids, let partition): reassertDetachedSessions(ids, of: partition, request)
            case .members(let channel, let ids): reassertDetachedMembers(ids, of: channel, request)
            }
        }
    }

    private func reassertDetachedSessions(_ ids: [SessionID], of partition: Int, _ request: Reassertion.Request) {
        let (now, local) = (redis.clock(ofSlot: redis.bus.partitions[partition].slot)?.now, LocalTime.now)
        // The clock is told with the first heartbeat, after which this is sent again.
        guard let now else { return detachedReassertion.failed(request) }
        let told = ids.compactMap { id -> DetachedSession? in
            guard let entry = detachedSessions.entry(of: id, now: local) else { return nil }
            return DetachedSession(entry.held, lostAt: now + (entry.lostAt - local).duration)
        }
        guard !told.isEmpty else { return detachedReassertion.answered(partition, members: []) }
        let command = ReassertDetachedSessions(gateway: id, sessions: told)
        sender.send(command, within: configuration.commandTimeout) { [self] result in
            switch result {
            case .success(let answer): answered(answer, of: partition)
            case .failure: detachedReassertion.failed(request)
            }
            tellDetachedSessions()
        }
    }

    private func answered(_ answer: DetachedSessionsReasserted, of partition: Int) {
        for session in answer.gone { detachedSessions.forget(session) }
        let members = answer.detached.compactMap { session -> (session: SessionID, channel: ChannelKey)? in
            guard let channel = detachedSessions.entry(of: session, now: .now)?.held.channel else { return nil }
            return (session, channel)
        }
        detachedReassertion.answered(partition, members: members)
    }

    private func reassertDetachedMembers(_ ids: [SessionID], of channel: ChannelKey, _ request: Reassertion.Request) {
        let members = ids.compactMap { id -> HeldMember? in
            guard let held = detachedSessions.entry(of: id, now: .now)?.held, held.channel == channel
            else { return nil }
            return HeldMember(member: Member(account: held.line.user.account, uid: held.uid), session: id)
        }
        guard !members.isEmpty else { return detachedReassertion.answered(unknown: []) }
        let command = ReassertMembers(channel: channel, members: members)
        sender.send(command, within: configuration.commandTimeout) { [self] result in
            switch result {
            // Those that are unknown have ended, or were resumed and have left the channel
            // since: others look after them.
            case .success: detachedReassertion.answered(unknown: [])
            case .failure: detachedReassertion.failed(request)
            }
            tellDetachedSessions()
        }
    }
}

extension HeldSession {
    /// The channel that the session is in; nil when it is in none, or that is not known.
    fileprivate var channel: ChannelKey? {
        place.isSettled ? place.channel.map { ChannelKey(app: line.user.app, name: $0) } : nil
    }
}
