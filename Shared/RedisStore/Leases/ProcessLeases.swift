package import ClusterState
package import SignalingProtocol
internal import SignalingWire

/// What a watcher finds of a lease.
package enum LeaseState: Equatable, Sendable {
    /// The lease is alive.
    case alive
    /// The lease has expired.
    case lost(lastHeartbeat: RedisTime)
    /// The holder ended the lease itself, or nothing is known of it.
    case ended
}

/// The leases by which processes of one kind show that they are alive; library `heliograph_gateways`.
///
/// A process renews its lease (`heartbeat`) every ``LeaseFleet/interval``, for the first time before it holds
/// anything. When a lease expires, the fleet's watcher acts: presence marks the gateway's sessions as detached since the
/// last heartbeat; the invitation service ends a sip-bridge's calls. The connection must keep
/// ``RedisFunctionLibrary/leases`` loaded.
package struct ProcessLeases<Holder: LeaseHolder>: Sendable {
    fileprivate let connection: RedisConnection

    /// Uses the leases over a connection; callable from any thread.
    package init(connection: RedisConnection) { self.connection = connection }

    /// Ends a lease: discovery no longer names it, and the watcher at once handles what it still holds.
    /// - Throws: `RedisError`.
    package func leave(_ holder: Holder) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_leave", holder, [.string(holder.rawValue)]))
    }

    /// Checks a lease; called by the watcher when the holder's timer fires.
    /// - Throws: `RedisError`.
    package func state(of holder: Holder) async throws(RedisError) -> LeaseState {
        let reply = try await connection.execute(call("gateway_lost", holder, [.string(holder.rawValue)]))
        guard let heartbeat = reply.int else { return .alive }
        return heartbeat == 0 ? .ended : .lost(lastHeartbeat: RedisTime(milliseconds: heartbeat))
    }

    /// Forgets a lost holder; called by the watcher when it has dealt with everything that the process held. No effect while
    /// the lease is alive.
    /// - Throws: `RedisError`.
    package func forget(_ holder: Holder) async throws(RedisError) {
        _ = try await connection.execute(call("gateway_forget", holder, [.string(holder.rawValue)]))
    }

    /// Renews or creates a lease.
    /// - Parameter record: the lease's contents.
    /// - Returns: whether the lease existed.
    fileprivate func renew(
        _ holder: Holder, _ record: [UInt8], discoverable: Bool
    ) async throws(RedisError) -> Bool {
        let fleet = Holder.fleet
        let arguments: [RedisArgument] = [
            .string(holder.rawValue), .bytes(record), .milliseconds(fleet.timeToLive), discoverable ? 1 : 0,
            .milliseconds(fleet.watchDelay),
        ]
        return try await connection.execute(call("gateway_heartbeat", holder, arguments)).int == 1
    }

    fileprivate func call(_ function: String, _ holder: Holder, _ arguments: [RedisArgument]) -> RedisCommand {
        let fleet = Holder.fleet
        var keys = [fleet.lease(holder), fleet.members, fleet.draining, KeySpace.due(fleet.watcher)]
        if let holdings = fleet.holdings(holder) { keys.append(holdings) }
        return .function(function, keys: keys, arguments: arguments)
    }
}

/// The leases of gateways.
package typealias GatewayLeases = ProcessLeases<GatewayID>
/// The leases of sip-bridges.
package typealias BridgeLeases = ProcessLeases<BridgeID>

extension ProcessLeases<GatewayID> {
    /// Renews or creates a gateway's lease.
    /// - Parameters:
    ///   - lease: the contents, which ``list()`` returns.
    ///   - discoverable: false while the gateway drains: it is alive, but discovery does not name it.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher may
    ///   have acted or that Redis has lost its data: the gateway must then report its sessions again.
    /// - Throws: `RedisError`.
    package func heartbeat(
        _ gateway: GatewayID, _ lease: GatewayLease, discoverable: Bool = true
    ) async throws(RedisError) -> Bool {
        var writer = FieldWriter()
        lease.write(to: &writer)
        return try await renew(gateway, writer.encoded, discoverable: discoverable)
    }

    /// The gateways that are alive and not draining, by the time of their last heartbeat. A gateway whose lease cannot be
    /// parsed, for instance during an upgrade that changes the format, is omitted.
    /// - Throws: `RedisError`.
    package func list() async throws(RedisError) -> [LiveGateway] {
        let fleet = GatewayID.fleet
        let start = fleet.lease(GatewayID(""))
        let command = call("gateway_list", GatewayID(""), [.string(start), .milliseconds(fleet.timeToLive)])
        let replies = try await connection.execute(command).array ?? []
        return stride(from: 0, to: replies.count - 1, by: 2).compactMap { index in
            guard let id = replies[index].string, let record = replies[index + 1].bytes,
                let reader = try? FieldReader(encoded: record),
                let lease = try? GatewayLease(from: reader)
            else { return nil }
            return LiveGateway(id: GatewayID(id), lease: lease)
        }
    }
}

extension ProcessLeases<BridgeID> {
    /// Renews or creates a sip-bridge's lease. Its contents are a record without fields.
    /// - Parameter discoverable: false while the bridge drains.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher may
    ///   have acted or that Redis has lost its data: the bridge must then give up its calls.
    /// - Throws: `RedisError`.
    package func heartbeat(_ bridge: BridgeID, discoverable: Bool = true) async throws(RedisError) -> Bool {
        try await renew(bridge, FieldWriter().encoded, discoverable: discoverable)
    }
}
