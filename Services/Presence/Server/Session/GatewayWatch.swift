internal import ClusterState
internal import Logging
internal import MessageStore
internal import Metrics
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Detaches the sessions of gateways whose lease has ended.
struct GatewayWatch: Sendable {
    /// Sessions looked at in one pipeline.
    private static let page = 250
    /// How long one look may take: other timers wait for it. What is left has a look of its own.
    private static let slice = Duration.milliseconds(250)
    /// After this long (ms) a gateway is looked at again that cannot be judged yet.
    private static let pause: Int64 = 1000

    let functions: PresenceFunctions
    let leases: GatewayLeases
    let uptime: RedisUptime
    let sessions: SessionHandler
    let logger: Logger

    /// The gateway's timer fired.
    func check(_ gateway: GatewayID) async throws(SignalingError) {
        let now = try await functions.now()
        guard let heartbeat = try await lastHeartbeat(of: gateway) else { return }
        var asOf = now
        // One that gave its lease back has no heartbeat. The others could not keep theirs up while Redis was away.
        if heartbeat != 0 {
            guard let since = uptime.since else { return try await look(at: gateway, at: now + Self.pause) }
            let earliest = since + LeaseFleet.gateways.watchDelay
            guard now >= earliest else { return try await look(at: gateway, at: earliest) }
            asOf = max(heartbeat, since)
        }
        let start = ContinuousClock.now
        while start.duration(to: .now) < Self.slice {
            let routes = PresenceFunctions.texts(
                try await functions.one(
                    RedisCommand("SRANDMEMBER", .string(KeySpace.sessions(gateway)), .int(Self.page))))
            if routes.isEmpty { return try await forget(gateway, heartbeat) }
            let kept = try await detach(routes, of: gateway, asOf: asOf, seen: now)
            // It is back and reasserts what it holds.
            if try await lastHeartbeat(of: gateway) == nil { return }
            if kept > 0 { return try await look(at: gateway, at: now + Self.pause) }
        }
        try await look(at: gateway, at: now)
    }

    private func look(at gateway: GatewayID, at time: Int64) async throws(SignalingError) {
        try await sessions.schedule(.gateway(gateway), at: time)
    }

    private func forget(_ gateway: GatewayID, _ heartbeat: Int64) async throws(SignalingError) {
        do {
            try await leases.forget(gateway)
        } catch {
            throw error.signaling
        }
        if heartbeat == 0 {
            logger.info("a gateway has left", metadata: ["gateway": "\(gateway)"])
        } else {
            PresenceMetrics.gatewaysLost.increment()
            logger.warning("a gateway is lost, its sessions are detached", metadata: ["gateway": "\(gateway)"])
        }
    }

    /// - Returns: how many are attached all the same.
    private func detach(
        _ texts: [String], of gateway: GatewayID, asOf: Int64, seen: Int64
    ) async throws(SignalingError) -> Int {
        let routes = texts.map { SessionRoute(text: $0) }
        let known = routes.compactMap(\.self)
        let replies = try await functions.all(
            known.map { route in
                PresenceFunctions.detach(
                    route.user, route.session, on: gateway, asOf: asOf, seen: seen,
                    CommandID(route.session.rawValue).derived("lost-\(seen)"), deadline: 0)
            })
        var after: [RedisCommand] = []
        var done = zip(texts, routes).filter { $0.1 == nil }.map(\.0)
        for (route, reply) in zip(known, replies) {
            switch try PresenceFunctions.detached(reply) {
            case .detached(let detached):
                after += sessions.following(detached, route, on: gateway)
                done.append(route.text)
            case .absent: done.append(route.text)
            case .kept: break
            }
        }
        // The last step: whoever comes after a crash finds again what was not done.
        if !done.isEmpty {
            let routes = [RedisArgument.string(KeySpace.sessions(gateway))] + done.map { .string($0) }
            after.append(RedisCommand("SREM", arguments: routes))
        }
        _ = try await functions.all(after)
        return texts.count - done.count
    }

    private func lastHeartbeat(of gateway: GatewayID) async throws(SignalingError) -> Int64? {
        do {
            return try await leases.lost(gateway)
        } catch {
            throw error.signaling
        }
    }
}
