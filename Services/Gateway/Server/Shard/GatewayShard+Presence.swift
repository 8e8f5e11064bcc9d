internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayLogic
internal import Logging
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Reports to presence which sessions have lost their connections.
extension GatewayShard {
    /// Reports to presence that a session's connection is lost, repeatedly until presence confirms it.
    /// - Parameters:
    ///   - claim: this gateway's claim on the session; nil when it is not known.
    ///   - isDoubtful: whether presence may not have placed the session here at all. Where it has, and the report was
    ///     dropped because too many wait, the next comparison of the shard's sessions with those of Redis finds it.
    func detach(_ session: SessionID, of user: UserKey, claim: Int64? = nil, isDoubtful: Bool = false) {
        // Another connection of this shard has taken the session over.
        guard sessions[session] == nil else { return }
        guard detaching.lost(session, of: user, claim: claim, isDoubtful: isDoubtful) else {
            return GatewayMetrics.shared.detachesDropped.increment()
        }
        tellDetached()
    }

    /// Repeats what was not confirmed, about lost connections and held or detached
    /// sessions; called with each heartbeat.
    func retryTelling() {
        detaching.retry()
        tellDetached()
        reassertion.retry { partition(of: $0) }
        tellHeld()
        detachedReassertion.retry { partition(ofDetached: $0) }
        tellDetachedSessions()
        if uncompared != .none { compare(.none) }
    }

    func tellDetached() {
        for request in detaching.next(isResuming: isResuming) {
            let command = DetachSession(
                gateway: id, user: request.user, session: request.session, claim: request.claim)
            sender.send(command, within: configuration.commandTimeout) { [self] result in
                switch result {
                case .success:
                    detaching.confirmed(request)
                    tellDetached()
                case .failure(let error):
                    // Presence does not reply: the rest of the queue is tried again at the next heartbeat.
                    detaching.failed(request)
                    logger.warning(
                        "could not report a lost connection to presence; trying again",
                        metadata: ["session": "\(request.session)", "error": "\(error)"])
                }
            }
        }
    }
}

extension GatewayShard {
    /// The number of connected clients.
    var connectionCount: Int { connections.count }

    /// What the shard tells by its lease.
    /// - Parameter address: where clients reach the gateway.
    func lease(at address: GatewayAddress) -> GatewayLease {
        GatewayLease(
            host: address.host, port: address.port, connections: connectionCount, openHooks: hooks.openApps)
    }

    /// Closes one in `step` of the connections, so that their clients move to other gateways. Those that wait for an
    /// answer stay: after a resume nobody could tell them what has become of their call.
    func drain(oneIn step: Int) {
        let leaving = (connections.count + step - 1) / step
        let free = connections.values.lazy.filter { !$0.owesAnswers }
        for connection in free.prefix(leaving) { connection.handle(.close(.restart), on: self) }
    }

    /// Closes the connections that ``drain(oneIn:)`` has left, whatever they wait for.
    func closeAll() {
        for connection in connections.values { connection.handle(.close(.restart), on: self) }
    }

    /// Closes the connections of silent clients.
    func sweep() {
        let now = LocalTime.now
        for connection in connections.values { connection.sweep(now: now, on: self) }
    }

    /// Called when a lease was renewed.
    /// - Parameters:
    ///   - number: the lease, from 0.
    ///   - time: when the heartbeat was sent, at which the others were to be renewed too.
    ///   - wasHeld: whether the lease existed until then.
    func leaseRenewed(_ number: Int, askedAt time: LocalTime, wasHeld: Bool) {
        if senders.leaseRenewed(number, askedAt: time, wasHeld: wasHeld, now: .now) { reconcile() }
        confirmSenders()
        guard senders.hasBegun, lastHeartbeat.map({ $0 < time }) ?? true else { return }
        lastHeartbeat = time
        retryTelling()
    }

    /// Lets sessions send again of which presence has told that they have not ended.
    func confirmSenders() { senders.confirm { reassertion.isAnswered($0) } }

    /// Whether a session of the user may send a message that Redis does not check.
    func maySend(as user: UserKey) -> Bool {
        senders.maySend(at: { .now }, from: { redis.bus.partition(of: .user(user)).number })
    }

    /// What the shard has to do at the moment, for the metrics.
    var load: ShardLoad {
        ShardLoad(
            connections: connections.count, sessions: sessions.count, channels: channels.count,
            participants: participants.count, outputBytes: output.waiting, requests: sender.pendingCount,
            logins: logins.count, detaches: detaching.count, hooksUnderWay: hooks.underWay, hooksOpen: hooks.openCount,
            hasRing: lanes.ring != nil)
    }
}
