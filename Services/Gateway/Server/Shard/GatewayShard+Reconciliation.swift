internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// The state of a comparison of the sessions that a shard holds with those that Redis records for it.
struct RouteComparison {
    /// The search for the recorded ones.
    var scan: RouteScan
    /// The sessions that were held at the start and have not been found yet.
    var missing: Set<SessionID>
}

/// Compares the sessions that the shard holds with those that Redis records for it, in both directions.
///
/// After every outage of either connection, and when the lease was lost, all sessions are reasserted to presence: what
/// Redis has lost is recorded again, and the replies contain what the shard has missed (kicks, moves, mail). In a
/// cluster these are the sessions of users, or in channels, of the master that was away. Once a minute only the ids are
/// compared, which costs Redis almost nothing, and the sessions that differ are reasserted.
extension GatewayShard {
    /// The master of these slots is connected, for the first time or again.
    func redisConnected(_ slots: SlotScope) {
        guard senders.hasBegun else { return }
        reassert(slots)
        // Usually the subscriptions there are renewed a moment later, and that compares too: one search suffices. If
        // not, the next heartbeat begins it.
        uncompared.formUnion(slots)
    }

    /// Reasserts all sessions that are recorded in these slots, and searches there for sessions that Redis records for
    /// this shard but that it does not hold.
    func reconcile(_ slots: SlotScope = .all) {
        reassert(slots)
        compare(slots)
    }

    private func reassert(_ slots: SlotScope) {
        reassertDetached(slots)
        let channels = channels(in: slots)
        var concerned = Set(sessions(in: slots))
        concerned.formUnion(sessionsJoining(in: slots))
        for channel in channels {
            concerned.formUnion(channel.fanout.members.compactMap { $0.session.held?.line.session })
        }
        let told = concerned.filter { held($0) != nil }
        guard !told.isEmpty || !channels.isEmpty else { return }
        logger.notice(
            "reasserting sessions",
            metadata: ["sessions": "\(told.count)", "channels": "\(channels.count)", "slots": "\(slots.text)"])
        reassertion.want(told) { partition(of: $0) }
        tellHeld()
    }

    /// Reasserts one session, to learn whether this shard still holds it.
    func ask(about session: SessionID) {
        reassertion.want([session]) { partition(of: $0) }
        tellHeld()
    }

    /// Compares the ids of the sessions of users in these slots.
    func compare(_ slots: SlotScope = .all) {
        uncompared.formUnion(slots)
        guard comparison == nil, uncompared != .none else { return }
        let slots = uncompared
        uncompared = .none
        let held = sessions(in: slots).filter { self.held($0) != nil }
        comparison = RouteComparison(scan: RouteScan(id, in: slots), missing: Set(held))
        compareNextPage()
    }

    /// What the shard holds of a session; nil unless it is logged in here.
    private func held(_ session: SessionID) -> HeldSession? { sessions[session]?.session.held }

    /// The partition of a session's user; nil unless the session is logged in here.
    func partition(of session: SessionID) -> Int? {
        held(session).map { redis.bus.partition(of: .user($0.line.user)).number }
    }

    /// Whether the master of a partition answers. A single Redis is always asked.
    func isReachable(partition: Int) -> Bool {
        let partitions = redis.bus.partitions
        return partitions.count == 1 || redis.isReachable(slot: partitions[partition].slot)
    }

    private func compareNextPage() {
        let redis = redis
        comparison?.scan.turn { redis.isReachable(slot: $0) }
        guard let commands = comparison?.scan.commands else { return }
        guard !commands.isEmpty else { return endComparison() }
        redis.send(commands) { [self] results in
            for route in comparison?.scan.routes(in: results) ?? [] { lookForConnection(of: route.text) }
            compareNextPage()
        }
    }

    private func endComparison() {
        guard let ended = comparison else { return }
        comparison = nil
        // A master that was away is asked again at a later heartbeat.
        let missed = ended.scan.missed
        uncompared.formUnion(missed)
        let missing = ended.missing.filter { session in
            held(session).map { !missed.contains(subject: .user($0.line.user)) } ?? false
        }
        reassertion.want(missing) { partition(of: $0) }
        tellHeld()
    }

    /// Checks a session that Redis records for this shard. If anything is in progress with it, that will inform
    /// presence.
    private func lookForConnection(of text: String) {
        guard let session = SessionRoute.session(of: text) else { return }
        comparison?.missing.remove(session)
        guard sessions[session] == nil, !isResuming(session), !detaching.contains(session),
            let route = SessionRoute(text: text)
        else { return }
        GatewayMetrics.shared.ghosts.increment()
        detach(session, of: route.user)
    }

    /// Sends the reassertions that are due.
    func tellHeld() {
        while let request = reassertion.next(isReachable: { isReachable(partition: $0) }) {
            switch request {
            case .sessions(let ids, let partition): reassertSessions(ids, of: partition, request)
            case .members(let channel, let ids): reassertMembers(ids, of: channel, request)
            }
        }
    }

    private func reassertSessions(_ ids: [SessionID], of partition: Int, _ request: Reassertion.Request) {
        var told: [SessionID: HeldSession] = [:]
        for id in ids { told[id] = sessions[id]?.heldSession }
        guard !told.isEmpty else {
            reassertion.answered(partition, members: [])
            return confirmSenders()
        }
        let command = ReassertSessions(gateway: id, sessions: Array(told.values))
        sender.send(command, within: configuration.commandTimeout) { [self] result in
            switch result {
            case .success(let answer): answered(answer, of: partition, to: told)
            case .failure: reassertion.failed(request)
            }
            tellHeld()
        }
    }

    private func answered(_ answer: SessionsReasserted, of partition: Int, to told: [SessionID: HeldSession]) {
        var members: [(session: SessionID, channel: ChannelKey)] = []
        var changed: [SessionID] = []
        for confirmed in answer.held {
            let id = confirmed.session
            sessions[id]?.handle(.mailbox(.latest(confirmed.mailbox)), on: self)
            guard let now = held(id) else { continue }
            // The session has changed channels meanwhile: reassert again, so that the final state is right.
            if now.place != told[id]?.place { changed.append(id) }
            if now.place.isSettled, let channel = now.place.channel {
                members.append((id, ChannelKey(app: now.line.user.app, name: channel)))
            }
        }
        reassertion.want(changed) { self.partition(of: $0) }
        reassertion.answered(partition, members: members)
        confirmSenders()
        for lost in answer.lost {
            // A session that was meanwhile resumed here again is not the one that presence means.
            guard let connection = sessions[lost.session], held(lost.session)?.hold == told[lost.session]?.hold
            else { continue }
            GatewayMetrics.shared.lost.increment()
            connection.handle(
                .session(.superseded(lost.code.map(ConnectionStateMachine.Ending.closeFrame) ?? .silent)), on: self)
        }
    }

    private func reassertMembers(_ ids: [SessionID], of channel: ChannelKey, _ request: Reassertion.Request) {
        let members = ids.compactMap { id -> HeldMember? in
            guard let held = held(id), held.place.isSettled, held.place.channel == channel.name else { return nil }
            return HeldMember(member: Member(account: held.line.user.account, uid: held.uid), session: id)
        }
        guard !members.isEmpty else { return reassertion.answered(unknown: []) }
        let command = ReassertMembers(channel: channel, members: members)
        sender.send(command, within: configuration.commandTimeout) { [self] result in
            switch result {
            case .success(let answer): reassertion.answered(unknown: answer.unknown)
            case .failure: reassertion.failed(request)
            }
            tellHeld()
        }
    }
}
