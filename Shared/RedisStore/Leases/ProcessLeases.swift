package import ClusterState
package import SignalingProtocol
internal import SignalingWire

/// What a watcher finds of a lease.
package enum LeaseState: Equatable, Sendable {
    /// The lease is alive, and ends after this time unless it is renewed.
    case alive(remaining: Duration)
    /// The lease has expired.
    case lost(lastHeartbeat: RedisTime)
    /// The holder ended the lease itself, or nothing is known of it.
    case ended
}

/// The leases by which processes of one kind show that they are alive; library `heliograph_gateways`.
///
/// Every ``LeaseFleet/interval`` a process renews its lease, postpones its watcher's timer (``watch(_:)``) and lists itself
/// (`announce`), for the first time before it holds anything. The three do not wait for each other, since they may be at
/// different servers. When a lease expires, the fleet's watcher acts: presence marks the gateway's sessions as detached
/// since the last heartbeat; the invitation service ends a sip-bridge's calls. The connection must keep
/// ``RedisFunctionLibrary/leases`` loaded.
package struct ProcessLeases<Holder: LeaseHolder>: Sendable {
    fileprivate let connection: RedisCluster

    /// Uses the leases over a connection; callable from any thread.
    package init(connection: RedisCluster) { self.connection = connection }

    // MARK: - The holder

    /// Sets the watcher's timer to the end of a lease that is renewed now.
    /// - Throws: `RedisError`.
    package func watch(_ holder: Holder) async throws(RedisError) {
        _ = try await connection.execute(timer(holder, after: Holder.fleet.watchDelay))
    }

    /// Removes a holder from the list of its kind: it drains, or is gone.
    /// - Throws: `RedisError`.
    package func withdraw(_ holder: Holder) async throws(RedisError) {
        let fleet = Holder.fleet
        let results = await connection.execute([
            RedisCommand("ZREM", key: fleet.members, .string(holder.rawValue)),
            RedisCommand("HDEL", key: fleet.records, .string(holder.rawValue)),
        ])
        for result in results { _ = try result.get() }
    }

    /// Ends a lease: the watcher at once handles what the holder still holds, and discovery no longer names it.
    /// - Throws: `RedisError`.
    package func leave(_ holder: Holder) async throws(RedisError) {
        // First of all: the watcher must not find the lease alive.
        _ = try await connection.execute(RedisCommand("DEL", key: Holder.fleet.lease(holder)))
        _ = try await connection.execute(timer(holder, after: .zero))
        try await withdraw(holder)
    }

    /// Renews or creates a lease.
    /// - Parameter record: what the lease says beside the time of the heartbeat.
    /// - Returns: whether the lease existed.
    fileprivate func renew(_ holder: Holder, _ record: FieldWriter) async throws(RedisError) -> Bool {
        let fleet = Holder.fleet
        let command = RedisCommand.function(
            "lease_renew", tag: fleet.lease(holder), .bytes(record.encoded), .milliseconds(fleet.timeToLive),
            .milliseconds(fleet.keptAfterEnd))
        return try await connection.execute(command).int == 1
    }

    /// Lists a holder among the living of its kind, with a record for those who read the list.
    fileprivate func announce(_ holder: Holder, _ record: FieldWriter) async throws(RedisError) {
        let fleet = Holder.fleet
        let command = RedisCommand.function(
            "lease_announce", keys: [fleet.members, fleet.records],
            arguments: [.string(holder.rawValue), .bytes(record.encoded)])
        _ = try await connection.execute(command)
    }

    private func timer(_ holder: Holder, after delay: Duration) -> RedisCommand {
        let fleet = Holder.fleet
        return .function(
            "lease_watch", tag: KeySpace.due(fleet.watcher, in: connection.bus.partition(of: fleet.subject(holder))),
            .string(fleet.timer(holder)), .milliseconds(delay))
    }

    // MARK: - The watcher

    /// The command whose reply tells ``remaining(_:)``, for a caller's pipeline.
    package static func question(about holder: Holder) -> RedisCommand {
        RedisCommand("PTTL", key: Holder.fleet.lease(holder))
    }

    /// Reads the reply to ``question(about:)``.
    /// - Returns: how long the lease still lives; nil when it has ended.
    package static func remaining(_ reply: RedisValue) -> Duration? {
        let remaining = Duration.milliseconds(reply.int ?? 0) - Holder.fleet.keptAfterEnd
        return remaining > .zero ? remaining : nil
    }

    /// Checks a lease; called by the watcher when the holder's timer fires.
    /// - Throws: `RedisError`.
    package func state(of holder: Holder) async throws(RedisError) -> LeaseState {
        let results = await connection.execute([
            RedisCommand("GET", key: Holder.fleet.lease(holder)), Self.question(about: holder),
        ])
        let record = try results[0].get().bytes
        if let remaining = Self.remaining(try results[1].get()) { return .alive(remaining: remaining) }
        guard let record, let fields = try? FieldReader(encoded: record), let heartbeat = try? fields.int64("heartbeat")
        else { return .ended }
        return .lost(lastHeartbeat: RedisTime(milliseconds: heartbeat))
    }

    /// Forgets a lost holder; called by the watcher when it has dealt with everything that the process held. A lease that is
    /// alive again stays; its holder lists itself again at its next heartbeat.
    /// - Throws: `RedisError`.
    package func forget(_ holder: Holder) async throws(RedisError) {
        try await withdraw(holder)
        let fleet = Holder.fleet
        _ = try await connection.execute(
            .function("lease_forget", tag: fleet.lease(holder), .milliseconds(fleet.keptAfterEnd)))
    }
}

/// The leases of gateways.
package typealias GatewayLeases = ProcessLeases<GatewayID>
/// The leases of sip-bridges.
package typealias BridgeLeases = ProcessLeases<BridgeID>

extension ProcessLeases<GatewayID> {
    /// The largest number of gateways that ``sample()`` returns.
    package static var sampleSize: Int { 64 }

    /// Renews or creates a gateway's lease.
    /// - Parameter isDraining: whether the gateway is about to end.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher may
    ///   have acted or that Redis has lost its data: the gateway must then report its sessions again.
    /// - Throws: `RedisError`.
    package func renew(
        _ gateway: GatewayID, _ lease: GatewayLease, isDraining: Bool = false
    ) async throws(RedisError) -> Bool {
        var record = FieldWriter()
        record.put("draining", isDraining)
        lease.write(to: &record)
        return try await renew(gateway, record)
    }

    /// Lists a gateway for ``sample()``. One that drains is to ``withdraw(_:)`` instead.
    /// - Throws: `RedisError`.
    package func announce(_ gateway: GatewayID, _ lease: GatewayLease) async throws(RedisError) {
        var record = FieldWriter()
        lease.write(to: &record)
        try await announce(gateway, record)
    }

    /// Some of the gateways that are alive and do not drain, drawn at random: up to ``sampleSize``, so that what a call costs
    /// does not grow with the cluster. A gateway whose record cannot be parsed, for instance during an upgrade that changes
    /// the format, is omitted.
    /// - Throws: `RedisError`.
    package func sample() async throws(RedisError) -> [LiveGateway] {
        let fleet = GatewayID.fleet
        let command = RedisCommand.function(
            "gateway_sample", keys: [fleet.members, fleet.records],
            arguments: [.milliseconds(fleet.timeToLive), .int(Self.sampleSize)])
        let replies = try await connection.execute(command).array ?? []
        return stride(from: 0, to: replies.count - 1, by: 2).compactMap { index in
            guard let id = replies[index].string, let record = replies[index + 1].bytes,
                let reader = try? FieldReader(encoded: record),
                let lease = try? GatewayLease(from: reader)
            else { return nil }
            return LiveGateway(id: GatewayID(id), lease: lease)
        }
    }

    /// The ids of all gateways that do not drain, of which some may have ended. It costs Redis about 0.1 ms for 1,200.
    /// - Throws: `RedisError`.
    package func list() async throws(RedisError) -> [GatewayID] {
        try await connection.execute(RedisCommand("ZRANGE", key: GatewayID.fleet.members, 0, -1)).texts.map {
            GatewayID($0)
        }
    }

    /// What some gateways tell by their own leases, each in a slot of its own.
    /// - Returns: without those that have ended or drain, and those whose lease cannot be read now.
    /// - Throws: `RedisError` when none can be read.
    package func leases(of gateways: [GatewayID]) async throws(RedisError) -> [GatewayID: GatewayLease] {
        let commands = gateways.flatMap {
            [RedisCommand("GET", key: GatewayID.fleet.lease($0)), Self.question(about: $0)]
        }
        let results = await connection.execute(commands)
        var leases: [GatewayID: GatewayLease] = [:]
        var failure: RedisError?
        for (index, gateway) in gateways.enumerated() {
            switch (results[2 * index], results[2 * index + 1]) {
            case (.failure(let error), _), (_, .failure(let error)): failure = error
            case (.success(let record), .success(let time)):
                guard Self.remaining(time) != nil, let bytes = record.bytes,
                    let fields = try? FieldReader(encoded: bytes),
                    (try? fields.bool("draining")) == false
                else { continue }
                leases[gateway] = try? GatewayLease(from: fields)
            }
        }
        if leases.isEmpty, let failure { throw failure }
        return leases
    }
}

extension ProcessLeases<BridgeID> {
    /// Renews or creates a sip-bridge's lease.
    /// - Parameter isDraining: whether the bridge takes no further calls and is about to end.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher may
    ///   have acted or that Redis has lost its data: the bridge must then give up its calls.
    /// - Throws: `RedisError`.
    package func renew(_ bridge: BridgeID, isDraining: Bool = false) async throws(RedisError) -> Bool {
        var record = FieldWriter()
        record.put("draining", isDraining)
        return try await renew(bridge, record)
    }

    /// Lists a sip-bridge, with a record without fields. One that drains is to ``withdraw(_:)`` instead.
    /// - Throws: `RedisError`.
    package func announce(_ bridge: BridgeID) async throws(RedisError) { try await announce(bridge, FieldWriter()) }
}
