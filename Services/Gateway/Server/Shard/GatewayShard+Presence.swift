internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// What the shard tells presence of sessions that lost their connections.
extension GatewayShard {
    /// Tells presence that a session's connection is gone, until presence has heard it.
    func detach(_ session: SessionID, of user: UserKey) {
        // Another connection here has taken it over.
        guard sessions[session] == nil else { return }
        detaching.lost(session, of: user)
        tellDetached()
    }

    /// Tells again what was not confirmed, of lost connections and of what is held; called with the heartbeat.
    func retryTelling() {
        detaching.retry()
        tellDetached()
        reassertion.retry()
        tellHeld()
        if mustCompare { compare() }
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
