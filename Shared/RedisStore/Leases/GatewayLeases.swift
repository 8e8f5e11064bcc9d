package import ClusterState
package import SignalingProtocol

/// A gateway as discovery sees it.
package struct GatewayLease: Equatable, Sendable {
    /// Which gateway.
    package var gateway: GatewayID
    /// What it says of itself: JSON text with its public addresses and load. Only gateways read it.
    package var text: String

    /// Makes the record.
    package init(gateway: GatewayID, text: String) {
        self.gateway = gateway
        self.text = text
    }
}

/// The leases that gateways, and processes like them, keep up while they live; library `heliograph_gateways`.
///
/// A gateway calls ``heartbeat(_:text:discoverable:)`` every ``LeaseFleet/interval``, first of all before it holds anything. When a
/// lease ends, the fleet's watcher acts: presence detaches the gateway's sessions as of the last heartbeat, the
/// invitation service ends a sip-bridge's calls. A connection that is used for this must load ``RedisFunctionLibrary/leases``.
package struct GatewayLeases: Sendable {
    private let connection: RedisConnection
    private let fleet: LeaseFleet

    /// Works over `connection`, from anywhere.
    package init(connection: RedisConnection, fleet: LeaseFleet = .gateways) {
        self.connection = connection
        self.fleet = fleet
    }

    /// Renews a gateway's lease, or begins it.
    /// - Parameters:
    ///   - text: JSON with its public addresses and load, given to all gateways by ``list()``.
    ///   - discoverable: false while it drains: it lives, but discovery does not name it.
    /// - Returns: whether the lease was still there. False at the first heartbeat; later it means that the watcher may
    ///   have acted, or that Redis lost everything: a gateway reasserts what it holds, a sip-bridge lets go of its calls.
    /// - Throws: `RedisError`.
    package func heartbeat(
        _ gateway: GatewayID, text: String, discoverable: Bool = true
    ) async throws(RedisError) -> Bool {
        let command = call(
            "gateway_heartbeat", gateway,
            [
                .string(gateway.rawValue), .string(text), .int64(fleet.timeToLive), discoverable ? 1 : 0,
                .int64(fleet.watchDelay),
            ])
        return try await connection.execute(command).int == 1
    }

    /// Ends a gateway's lease: discovery forgets it, and the watcher deals at once with what it still holds.
    /// - Throws: `RedisError`.
    package func leave(_ gateway: GatewayID) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_leave", gateway, [.string(gateway.rawValue)]))
    }

    /// The gateways that live and do not drain, by the time of their last heartbeat.
    /// - Throws: `RedisError`.
    package func list() async throws(RedisError) -> [GatewayLease] {
        let start = fleet.lease(GatewayID(""))
        let command = call("gateway_list", GatewayID(""), [.string(start), .int64(fleet.timeToLive)])
        let texts = (try await connection.execute(command).array ?? []).map { $0.string ?? "" }
        return stride(from: 0, to: texts.count - 1, by: 2).map {
            GatewayLease(gateway: GatewayID(texts[$0]), text: texts[$0 + 1])
        }
    }

    /// For the watcher, when a gateway's timer fires.
    /// - Returns: nil while the lease lives; else the time of the last heartbeat (ms, Redis clock), 0 when not known.
    /// - Throws: `RedisError`.
    package func lost(_ gateway: GatewayID) async throws(RedisError) -> Int64? {
        try await connection.execute(call("gateway_lost", gateway, [.string(gateway.rawValue)])).int
    }

    /// For the watcher, when all that a lost gateway held is dealt with; no effect while the lease lives.
    /// - Throws: `RedisError`.
    package func forget(_ gateway: GatewayID) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_forget", gateway, [.string(gateway.rawValue)]))
    }

    private func call(_ function: String, _ gateway: GatewayID, _ arguments: [RedisArgument]) -> RedisCommand {
        let keys = [
            fleet.lease(gateway), fleet.members, fleet.draining, KeySpace.due(fleet.watcher), fleet.holdings(gateway),
        ]
        return .function(function, keys: keys, arguments: arguments)
    }
}
