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
                    // Presence does not answer: the rest of the queue is tried again with the next heartbeat.
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
    /// How many clients are connected, which the lease tells.
    var connectionCount: Int { connections.count }

    /// Sends one in `step` of the connections elsewhere.
    func drain(oneIn step: Int) {
        let leaving = (connections.count + step - 1) / step
        for connection in connections.values.prefix(leaving) { connection.handle(.close(.restart), on: self) }
    }

    /// Closes the connections that are silent.
    func sweep() {
        let now = NIODeadline.now()
        for connection in connections.values { connection.sweep(now: now, on: self) }
    }

    /// A heartbeat has reached Redis.
    /// - Parameter wasHeld: whether the lease stood until then.
    func leaseTaken(wasHeld: Bool) {
        if !wasHeld, hadLease { reconcile() }
        hadLease = true
        retryTelling()
        report()
    }

    /// Sets the gauges.
    private func report() {
        GatewayMetrics.outputWaiting.record(output.waiting)
        GatewayMetrics.connections.record(connections.count)
        GatewayMetrics.sessions.record(sessions.count)
        GatewayMetrics.channels.record(channels.count)
    }
}
