internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import Logging
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Detaches the sessions of gateways whose lease has ended.
struct LostGateways: Sendable {
    /// The number of sessions handled in one pipeline.
    private static let page = 250
    /// The time limit of one round, because other timers wait for it. A further round goes on from there.
    private static let slice = Duration.milliseconds(250)
    /// The pause before the next round when not all sessions could be detached, or not all be looked for.
    private static let pause = Duration.seconds(1)

    let functions: PresenceFunctions
    let watch: LeaseWatch<GatewayID, PresenceTimer>
    let sessions: SessionHandler
    let logger: Logger
    private let searches = LostGatewaySearches()

    /// Handles a gateway's timer: goes on with the search for its routes.
    func check(_ gateway: GatewayID) async throws(SignalingError) {
        guard let lease = try await watch.ended(gateway) else { return searches.drop(gateway) }
        var search = searches.take(gateway, lostAt: lease.loss)
        switch try await round(&search, gateway, lease) {
        case .isOver: try await forget(gateway, lease)
        // It reasserts what it holds.
        case .isBack: break
        case .goOn(let pause):
            searches.keep(search, gateway, lostAt: lease.loss)
            try await watch.lookAgain(at: gateway, after: pause)
        }
    }

    /// What a round has come to.
    private enum Progress {
        /// No route is left.
        case isOver
        /// The gateway is alive again, or may be, and is looked at later.
        case isBack
        /// There is more to do, after a pause.
        case goOn(Duration)
    }

    private func round(
        _ search: inout LostGatewaySearch, _ gateway: GatewayID, _ lease: EndedLease
    ) async throws(SignalingError) -> Progress {
        let end = ContinuousClock.now + Self.slice
        while ContinuousClock.now < end {
            if search.found.isEmpty {
                guard let routes = await functions.redis.nextRoutes(of: &search.scan) else {
                    // Those whose master is away, and those that could not be detached, are looked for again.
                    if search.scan.missed != .none { return .goOn(Self.pause) }
                    // Only a whole search that finds nothing shows that nothing is left.
                    if !search.hasFound { return .isOver }
                    search = LostGatewaySearch(gateway)
                    continue
                }
                search.add(routes)
                continue
            }
            let page = search.takeFound(Self.page)
            let some = await functions.redis.reachable(page, of: &search.scan)
            do throws(SignalingError) {
                let kept = try await detach(some, of: gateway, lease)
                search.scan.putBack(kept)
            } catch {
                // They are asked for again when the others have been dealt with, at the earliest after a pause.
                search.scan.putBack(some)
                logger.debug(
                    "could not detach sessions", metadata: ["gateway": "\(gateway)", "error": "\(error)"])
                return .goOn(Self.pause)
            }
            if try await watch.isBack(gateway) { return .isBack }
        }
        return .goOn(.zero)
    }

    private func forget(_ gateway: GatewayID, _ lease: EndedLease) async throws(SignalingError) {
        let isFirst = try await watch.forget(gateway, lease)
        if lease.isGivenBack {
            logger.info("gateway has stopped", metadata: ["gateway": "\(gateway)"])
        } else if isFirst {
            PresenceMetrics.shared.gatewaysLost.increment()
            logger.warning("gateway lost: its sessions are detached", metadata: ["gateway": "\(gateway)"])
        }
    }

    /// - Returns: the routes of sessions that are still attached.
    private func detach(
        _ found: [FoundRoute], of gateway: GatewayID, _ lease: EndedLease
    ) async throws(SignalingError) -> [FoundRoute] {
        // A route that cannot be read is removed with those that are dealt with.
        let known = found.compactMap { found in SessionRoute(text: found.text).map { (found: found, route: $0) } }
        let replies = try await functions.redis.answers(
            to: known.map { known in
                let id = CommandID(known.route.session.rawValue).derived("lost-\(lease.now)")
                return PresenceFunctions.detach(
                    known.route, from: gateway, .gatewayLost(since: lease.abandonedAt, foundAt: lease.now),
                    CommandContext(id: id))
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
        return Array(kept)
    }
}
