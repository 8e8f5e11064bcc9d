package import ClusterState
package import SignalingProtocol

/// A gateway's lease, as discovery reads it.
package struct GatewayLease: Equatable, Sendable {
    /// The gateway's id.
    package var gateway: GatewayID
    /// The gateway's description of itself: JSON with its public addresses and load, read by gateways only.
    package var text: String

    package init(gateway: GatewayID, text: String) {
        self.gateway = gateway
        self.text = text
    }
}

/// The leases by which processes of one kind show that they are alive; library `heliograph_gateways`.
///
/// A process calls ``heartbeat(_:text:discoverable:)`` every ``LeaseFleet/interval``, for the first time before it holds
/// anything. When a lease expires, the fleet's watcher acts: presence marks the gateway's sessions as detached since the
/// last heartbeat; the invitation service ends a sip-bridge's calls. The connection must keep
/// ``RedisFunctionLibrary/leases`` loaded.
package struct ProcessLeases<Holder: LeaseHolder>: Sendable {
    fileprivate let connection: RedisConnection

    /// Uses the leases over a connection; callable from any thread.
    package init(connection: RedisConnection) { self.connection = connection }

    /// Renews or creates a lease.
    /// - Parameters:
    ///   - text: JSON with the gateway's public addresses and load, returned to all gateways by ``list()``.
    ///   - discoverable: false while the gateway drains: it is alive, but discovery does not name it.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher may
    ///   have acted or that Redis has lost its data: a gateway must then write what it holds again, and a sip-bridge must
    ///   give up its calls.
    /// - Throws: `RedisError`.
    package func heartbeat(
        _ holder: Holder, text: String, discoverable: Bool = true
    ) async throws(RedisError) -> Bool {
        let command = call(
            "gateway_heartbeat", holder,
            [
                .string(holder.rawValue), .string(text), .int64(Holder.fleet.timeToLive), discoverable ? 1 : 0,
                .int64(Holder.fleet.watchDelay),
            ])
        return try await connection.execute(command).int == 1
    }

    /// Ends a lease: discovery no longer names it, and the watcher at once handles what it still holds.
    /// - Throws: `RedisError`.
    package func leave(_ holder: Holder) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_leave", holder, [.string(holder.rawValue)]))
    }

    /// Checks a lease; called by the watcher when the holder's timer fires.
    /// - Returns: nil while the lease is alive; else the time of the last heartbeat (ms, Redis' clock), 0 when unknown.
    /// - Throws: `RedisError`.
    package func lost(_ holder: Holder) async throws(RedisError) -> Int64? {
        try await connection.execute(call("gateway_lost", holder, [.string(holder.rawValue)])).int
    }

    /// Forgets a lost holder; called by the watcher when it has dealt with everything that the process held. No effect while
    /// the lease is alive.
    /// - Throws: `RedisError`.
    package func forget(_ holder: Holder) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_forget", holder, [.string(holder.rawValue)]))
    }

    fileprivate func call(_ function: String, _ holder: Holder, _ arguments: [RedisArgument]) -> RedisCommand {
        let fleet = Holder.fleet
        let keys = [
            fleet.lease(holder), fleet.members, fleet.draining, KeySpace.due(fleet.watcher), fleet.holdings(holder),
        ]
        return .function(function, keys: keys, arguments: arguments)
    }
}

/// The leases of gateways.
package typealias GatewayLeases = ProcessLeases<GatewayID>
/// The leases of sip-bridges.
package typealias BridgeLeases = ProcessLeases<BridgeID>

extension ProcessLeases<GatewayID> {
    /// The gateways that are alive and not draining, by the time of their last heartbeat.
    /// - Throws: `RedisError`.
    package func list() async throws(RedisError) -> [GatewayLease] {
        let fleet = GatewayID.fleet
        let start = fleet.lease(GatewayID(""))
        let command = call("gateway_list", GatewayID(""), [.string(start), .int64(fleet.timeToLive)])
        let texts = (try await connection.execute(command).array ?? []).map { $0.string ?? "" }
        return stride(from: 0, to: texts.count - 1, by: 2).map {
            GatewayLease(gateway: GatewayID(texts[$0]), text: texts[$0 + 1])
        }
    }
}
