internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// What the shard tells presence and channel-state about what it holds.
extension GatewayShard {
    /// Sessions or members in one reassertion.
    private static let reassertionBound = 500

    /// Tells presence that a session's connection is gone, until presence has heard it.
    func detach(_ session: SessionID, of user: UserKey) {
        detaching.lost(session, of: user)
        tellDetached()
    }

    /// Tells again what presence has not confirmed; called with the heartbeat.
    func retryDetaching() {
        detaching.retry()
        tellDetached()
    }

    func tellDetached() {
        for request in detaching.next(isResuming: isResuming) {
            let command = DetachSession(gateway: id, user: request.user, session: request.session)
            sender.send(command, within: configuration.commandTimeout) { [self] result in
                switch result {
                case .success:
                    detaching.confirmed(request)
                    tellDetached()
                case .failure(let error):
                    // The rest waits for the heartbeat too: presence has trouble.
                    detaching.failed(request)
                    logger.warning(
                        "session not detached yet",
                        metadata: ["session": "\(request.session)", "error": "\(error)"])
                }
            }
        }
    }

    func redisConnected() {
        // The first connection has nothing to reassert.
        mustReassert = !sessions.isEmpty
        if mustReassert { reassert() }
    }

    /// Records again in Redis what this shard holds; called after Redis was away, and when the lease was lost.
    func reassert() {
        mustReassert = false
        let held = sessions.values.compactMap { connection -> HeldSession? in
            guard let session = connection.machine.activeSession else { return nil }
            return HeldSession(
                line: session.line, uid: session.uid, device: session.device, push: session.push,
                channel: connection.channel?.key.name, tokenExpiry: session.tokenExpiry)
        }
        logger.notice("reasserting", metadata: ["sessions": "\(held.count)", "channels": "\(channels.count)"])
        for group in held.groups(of: Self.reassertionBound) {
            sender.send(ReassertSessions(gateway: id, sessions: group)) { [self] result in
                switch result {
                case .success(let answer):
                    for lost in answer.lost { sessions[lost]?.superseded(.closeFrame(.logoutKicked)) }
                case .failure: mustReassert = true
                }
            }
        }
        for channel in channels.values {
            let members = channel.members.compactMap { connection -> HeldMember? in
                guard let session = connection.machine.activeSession else { return nil }
                let member = Member(account: session.user.account, uid: session.uid)
                return HeldMember(member: member, session: session.line.session)
            }
            for group in members.groups(of: Self.reassertionBound) {
                sender.send(ReassertMembers(channel: channel.key, members: group)) { [self] result in
                    if case .failure = result { mustReassert = true }
                }
            }
        }
    }
}

extension Array {
    func groups(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

extension GatewayShard {
    /// Whether both connections to Redis stand.
    var isConnected: Bool { redis.isConnected && subscriber?.isConnected == true }

    /// Runs on the shard's event loop.
    func onLoop<Result: Sendable>(_ act: @escaping @Sendable (GatewayShard) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            eventLoop.execute { continuation.resume(returning: act(self)) }
        }
    }

    /// Sends one in `step` of the connections elsewhere.
    func drain(oneIn step: Int) {
        let leaving = (connections.count + step - 1) / step
        for connection in connections.values.prefix(leaving) { connection.drain() }
    }

    /// Sets the gauges.
    func report() {
        GatewayMetrics.outputWaiting.record(output.waiting)
        GatewayMetrics.connections.record(connections.count)
        GatewayMetrics.sessions.record(sessions.count)
        GatewayMetrics.channels.record(channels.count)
    }
}
