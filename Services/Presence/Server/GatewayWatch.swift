internal import Logging
internal import MessageStore
internal import Metrics
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Detaches the sessions of gateways whose lease has ended.
struct GatewayWatch: Sendable {
    /// Sessions looked at in one pipeline.
    private static let batch = 250

    let functions: PresenceFunctions
    let leases: GatewayLeases
    let sessions: SessionHandler
    let logger: Logger

    /// The gateway's timer fired.
    func check(_ gateway: GatewayID) async throws(SignalingError) {
        guard let heartbeat = try await lastHeartbeat(of: gateway) else { return }
        logger.warning("a gateway is lost", metadata: ["gateway": "\(gateway)"])
        var cursor = "0"
        var detached = 0
        repeat {
            let scan = try await functions.one(
                RedisCommand(
                    "SSCAN", .string(KeySpace.sessions(gateway)), .string(cursor), "COUNT", .int(Self.batch)))
            guard let parts = scan.array, parts.count == 2, let next = parts[0].string else {
                throw PresenceFunctions.shape
            }
            cursor = next
            detached += try await detach(PresenceFunctions.texts(parts[1]), on: gateway, asOf: heartbeat)
            // It is back and reasserts what it holds.
            if try await lastHeartbeat(of: gateway) == nil { return }
        } while cursor != "0"
        do {
            try await leases.forget(gateway)
        } catch {
            throw error.signaling
        }
        PresenceMetrics.gatewaysLost.increment()
        logger.notice(
            "a lost gateway's sessions are detached",
            metadata: ["gateway": "\(gateway)", "sessions": "\(detached)"])
    }

    private func detach(
        _ texts: [String], on gateway: GatewayID, asOf heartbeat: Int64
    ) async throws(SignalingError) -> Int {
        let routes = texts.compactMap { SessionRoute(text: $0) }
        let replies = try await functions.all(
            routes.map { route in
                PresenceFunctions.detach(
                    route.user, route.session, on: gateway, asOf: heartbeat,
                    CommandID(route.session.rawValue).derived("lost-\(heartbeat)"), deadline: 0)
            })
        var count = 0
        for (route, reply) in zip(routes, replies) {
            guard let detached = PresenceFunctions.detached(reply) else { continue }
            try await sessions.follow(detached, route, on: gateway)
            count += 1
        }
        return count
    }

    private func lastHeartbeat(of gateway: GatewayID) async throws(SignalingError) -> Int64? {
        do {
            return try await leases.lost(gateway)
        } catch {
            throw error.signaling
        }
    }
}
