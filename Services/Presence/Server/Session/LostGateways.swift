internal import ClusterService
internal import ClusterState
internal import Logging
internal import Metrics
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Detaches the sessions of gateways whose lease has ended.
struct LostGateways: Sendable {
    /// The number of sessions handled in one pipeline.
    private static let page = 250
    /// The time limit of one round, because other timers wait for it. The rest is done in a further round.
    private static let slice = Duration.milliseconds(250)
    /// The pause before the next round when not all sessions could be detached.
    private static let pause = Duration.seconds(1)

    let functions: PresenceFunctions
    let watch: LeaseWatch<GatewayID, PresenceTimer>
    let sessions: SessionHandler
    let logger: Logger

    /// Handles a gateway's timer.
    func check(_ gateway: GatewayID) async throws(SignalingError) {
        guard let lease = try await watch.ended(gateway) else { return }
        let start = ContinuousClock.now
        while start.duration(to: .now) < Self.slice {
            let routes = try await functions.redis.answer(
                to: RedisCommand("SRANDMEMBER", .string(KeySpace.sessions(gateway)), .int(Self.page))
            ).texts
            if routes.isEmpty { return try await forget(gateway, lease) }
            let kept = try await detach(routes, of: gateway, lease)
            // The gateway is back and reasserts what it holds.
            if try await watch.isBack(gateway) { return }
            if kept > 0 { return try await watch.lookAgain(at: gateway, at: lease.now + Self.pause) }
        }
        try await watch.lookAgain(at: gateway, at: lease.now)
    }

    private func forget(_ gateway: GatewayID, _ lease: EndedLease) async throws(SignalingError) {
        try await watch.forget(gateway)
        if lease.isGivenBack {
            logger.info("gateway has stopped", metadata: ["gateway": "\(gateway)"])
        } else {
            PresenceMetrics.gatewaysLost.increment()
            logger.warning("gateway lost: its sessions are detached", metadata: ["gateway": "\(gateway)"])
        }
    }

    /// - Returns: the number of sessions that are still attached.
    private func detach(
        _ texts: [String], of gateway: GatewayID, _ lease: EndedLease
    ) async throws(SignalingError) -> Int {
        let routes = texts.map { SessionRoute(text: $0) }
        let known = routes.compactMap(\.self)
        let replies = try await functions.redis.answers(
            to: known.map { route in
                let id = CommandID(route.session.rawValue).derived("lost-\(lease.now)")
                return PresenceFunctions.detach(
                    route, from: gateway, lostSince: (lease.abandonedAt, foundAt: lease.now), id, deadline: nil)
            })
        var commands: [RedisCommand] = []
        var done = zip(texts, routes).filter { $0.1 == nil }.map(\.0)
        for (route, reply) in zip(known, replies) {
            switch try PresenceFunctions.detached(reply) {
            case .detached(let detached):
                commands += sessions.commands(after: detached, route, on: gateway)
                done.append(route.text)
            case .absent: done.append(route.text)
            case .kept: break
            }
        }
        // The last step, so that after a crash the unfinished sessions are found again.
        if !done.isEmpty {
            let routes = [RedisArgument.string(KeySpace.sessions(gateway))] + done.map { .string($0) }
            commands.append(RedisCommand("SREM", arguments: routes))
        }
        _ = try await functions.redis.answers(to: commands)
        return texts.count - done.count
    }
}
