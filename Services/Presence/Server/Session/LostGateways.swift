internal import ClusterService
internal import ClusterState
internal import Logging
internal import PresenceLogic
internal import RedisStore
internal import ServiceMetrics
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

    /// Handles a gateway's timer. What a round has dealt with has no route any more, so the next one finds the rest.
    func check(_ gateway: GatewayID) async throws(SignalingError) {
        guard let lease = try await watch.ended(gateway) else { return }
        let end = ContinuousClock.now + Self.slice
        var scan = RouteScan(gateway)
        var hasFound = false
        while ContinuousClock.now < end {
            guard let routes = try await functions.nextRoutes(of: &scan) else {
                // Only a whole search that finds nothing shows that nothing is left.
                guard hasFound else { return try await forget(gateway, lease) }
                (scan, hasFound) = (RouteScan(gateway), false)
                continue
            }
            hasFound = hasFound || !routes.isEmpty
            for start in stride(from: 0, to: routes.count, by: Self.page) where ContinuousClock.now < end {
                let some = routes[start..<min(start + Self.page, routes.count)]
                let kept = try await detach(some, of: gateway, lease)
                // The gateway is back and reasserts what it holds.
                if try await watch.isBack(gateway) { return }
                if kept > 0 { return try await watch.lookAgain(at: gateway, at: lease.now + Self.pause) }
            }
        }
        try await watch.lookAgain(at: gateway, at: lease.now)
    }

    private func forget(_ gateway: GatewayID, _ lease: EndedLease) async throws(SignalingError) {
        try await watch.forget(gateway)
        if lease.isGivenBack {
            logger.info("gateway has stopped", metadata: ["gateway": "\(gateway)"])
        } else {
            PresenceMetrics.shared.gatewaysLost.increment()
            logger.warning("gateway lost: its sessions are detached", metadata: ["gateway": "\(gateway)"])
        }
    }

    /// - Returns: the number of sessions that are still attached.
    private func detach(
        _ found: ArraySlice<FoundRoute>, of gateway: GatewayID, _ lease: EndedLease
    ) async throws(SignalingError) -> Int {
        // A route that cannot be read is removed with those that are dealt with.
        let known = found.compactMap { found in SessionRoute(text: found.text).map { (found: found, route: $0) } }
        let replies = try await functions.redis.answers(
            to: known.map { known in
                let id = CommandID(known.route.session.rawValue).derived("lost-\(lease.now)")
                return PresenceFunctions.detach(
                    known.route, from: gateway, lostSince: (lease.abandonedAt, foundAt: lease.now), id, deadline: nil)
            })
        var commands: [RedisCommand] = []
        var kept: Set<FoundRoute> = []
        for (known, reply) in zip(known, replies) {
            switch try PresenceFunctions.detached(reply) {
            case .detached(let detached): commands += sessions.commands(after: detached, known.route, on: gateway)
            case .absent: break
            case .kept: kept.insert(known.found)
            }
        }
        // The last step, so that after a crash the unfinished sessions are found again.
        let ended = PresenceFunctions.removing(found.filter { !kept.contains($0) }, of: gateway)
        _ = try await functions.redis.answers(to: commands, then: ended)
        return kept.count
    }
}
