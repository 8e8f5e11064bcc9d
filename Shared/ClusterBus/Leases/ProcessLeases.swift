internal import BusProtocol
package import ClusterState
package import RedisClient
package import SignalingProtocol

/// The leases by which processes of one kind show that they are alive; library `heliograph_gateways`.
///
/// Every ``LeaseFleet/interval`` a process renews its leases, postpones their watcher's timers (``watch(_:at:after:)``)
/// and lists itself (`announce`), for the first time before it holds anything. None of these waits for another, since
/// they may be at different servers. When more than half of the leases have expired, the fleet's watcher acts: presence
/// marks the gateway's sessions as detached since the last heartbeat; the invitation service ends a sip-bridge's calls.
/// The connection must keep ``RedisFunctionLibrary/leases`` loaded.
package struct ProcessLeases<Holder: LeaseHolder>: Sendable {
    /// How long to wait for each server's answer: some servers may be away while others answer.
    fileprivate static var patience: Duration { .seconds(2) }
    /// The same for the watcher, for whose answer other timers wait.
    private static var watcherPatience: Duration { .seconds(1) }
    /// The field of a lease with the number of leases that its holder has. A lease without the field is its holder's
    /// only one, or was written by an earlier release, which renews only the first.
    private static var countField: String { "leases" }

    fileprivate let connection: RedisClient

    /// Uses the leases over a connection; callable from any thread.
    package init(connection: RedisClient) { self.connection = connection }

    /// The places of a holder's leases.
    package func places(of holder: Holder) -> [LeasePlace] { Holder.fleet.places(of: holder, in: connection.bus) }

    // MARK: - The holder

    /// Sets the watcher's timer for one of a holder's leases.
    /// - Parameter delay: by the clock of the timer's server; default to the end of a lease that is renewed now.
    /// - Throws: `RedisError`.
    package func watch(
        _ holder: Holder, at place: LeasePlace, after delay: Duration = Holder.fleet.watchDelay
    ) async throws(RedisError) {
        _ = try await connection.execute(timer(holder, at: place, after: delay))
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

    /// Ends a holder's leases: the watcher at once handles what it still holds, and discovery no longer names it.
    /// - Throws: `RedisError`, when everything else was done: a lease that could not be ended expires.
    package func leave(_ holder: Holder) async throws(RedisError) {
        let places = places(of: holder)
        // First of all: the watcher must not find the leases alive. It is not kept waiting for a master that is away.
        let ended = await connection.execute(
            [], then: places.map { RedisCommand("DEL", key: $0.key) }, within: Self.patience)
        let timers = await connection.execute(
            [], then: places.map { timer(holder, at: $0, after: .zero) }, within: Self.patience)
        try await withdraw(holder)
        for result in ended + timers { _ = try result.get() }
    }

    /// Renews or creates one of a holder's leases.
    /// - Parameter record: what the lease says beside the time of the heartbeat and the number of leases.
    /// - Returns: whether the lease existed.
    fileprivate func renew(
        _ holder: Holder, at place: LeasePlace, _ record: (inout FieldWriter) -> Void
    ) async throws(RedisError) -> Bool {
        let fleet = Holder.fleet
        var fields = FieldWriter()
        let count = fleet.leases(in: connection.bus)
        if count > 1 { fields.put(Self.countField, count) }
        record(&fields)
        let command = RedisCommand.function(
            "lease_renew", tag: place.key, .bytes(fields.encoded), .milliseconds(fleet.timeToLive),
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

    private func timer(_ holder: Holder, at place: LeasePlace, after delay: Duration) -> RedisCommand {
        let fleet = Holder.fleet
        return .function(
            "lease_watch", tag: KeySpace.due(fleet.watcher, in: place.partition), .string(fleet.timer(holder)),
            .milliseconds(delay))
    }

    // MARK: - The watcher

    /// The command whose reply tells ``remaining(_:)`` of a holder's first lease, for a caller's pipeline. While that
    /// lease is alive, a timer of the watcher is set that looks at all of them.
    package static func question(about holder: Holder) -> RedisCommand { question(at: Holder.fleet.lease(holder)) }

    fileprivate static func question(at key: String) -> RedisCommand { RedisCommand("PTTL", key: key) }

    /// Reads the reply to ``question(about:)``.
    /// - Returns: how long the lease still lives; nil when it has ended.
    package static func remaining(_ reply: RedisValue) -> Duration? {
        let remaining = Duration.milliseconds(reply.int ?? 0) - Holder.fleet.keptAfterEnd
        return remaining > .zero ? remaining : nil
    }

    /// Reads all leases of a holder at once; called by the watcher when one of the holder's timers fires.
    /// - Returns: one reading for each of ``places(of:)``, in order; nil where none came in time.
    package func read(_ holder: Holder) async -> [LeaseReading?] {
        let commands = places(of: holder).flatMap { place in
            [
                RedisCommand("GET", key: place.key), Self.question(at: place.key),
                RedisCommand("TIME").inSlot(place.slot),
            ]
        }
        let values = await connection.answersInTime(to: commands, within: Self.watcherPatience)
        return stride(from: 0, to: values.count, by: 3).map { index in
            guard let record = values[index], let time = values[index + 1], let now = values[index + 2]?.time
            else { return nil }
            return Self.reading(record, time, now)
        }
    }

    private static func reading(_ record: RedisValue, _ time: RedisValue, _ now: RedisTime) -> LeaseReading {
        let fields = record.bytes.flatMap { try? FieldReader(encoded: $0) }
        let heartbeat = fields.flatMap { try? $0.int64("heartbeat") }
        let count = fields.map { (try? $0.int64(countField)).flatMap { Int(exactly: $0) } ?? 1 }
        if let remaining = remaining(time) {
            return LeaseReading(lease: .alive(remaining: remaining), count: count, now: now)
        }
        guard let heartbeat else { return LeaseReading(lease: .absent, count: nil, now: now) }
        return LeaseReading(
            lease: .expired(lastHeartbeat: RedisTime(milliseconds: heartbeat)), count: count, now: now)
    }

    /// Forgets a lost holder; called by the watcher when it has dealt with everything that the process held. A lease
    /// that is alive again stays; its holder lists itself again at its next heartbeat.
    /// - Returns: the numbers of the leases of which this call has removed what was left; no two calls remove the same.
    /// - Throws: `RedisError`.
    package func forget(_ holder: Holder) async throws(RedisError) -> Set<Int> {
        try await withdraw(holder)
        let places = places(of: holder)
        let kept = RedisArgument.milliseconds(Holder.fleet.keptAfterEnd)
        let results = await connection.execute(places.map { RedisCommand.function("lease_forget", tag: $0.key, kept) })
        var removed: Set<Int> = []
        for (place, result) in zip(places, results) {
            if try result.get().int == 1 { removed.insert(place.number) }
        }
        return removed
    }
}

/// The leases of gateways.
package typealias GatewayLeases = ProcessLeases<GatewayID>
/// The leases of sip-bridges.
package typealias BridgeLeases = ProcessLeases<BridgeID>

extension ProcessLeases<GatewayID> {
    /// The largest number of gateways that ``sample()`` returns.
    package static var sampleSize: Int { 64 }

    /// Renews or creates one of a gateway's leases.
    /// - Parameter isDraining: whether the gateway is about to end.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher
    ///   may have acted or that Redis has lost its data: the gateway must then report its sessions again.
    /// - Throws: `RedisError`.
    package func renew(
        _ gateway: GatewayID, _ lease: GatewayLease, at place: LeasePlace, isDraining: Bool = false
    ) async throws(RedisError) -> Bool {
        try await renew(gateway, at: place) { record in
            record.put("draining", isDraining)
            lease.write(to: &record)
        }
    }

    /// Lists a gateway for ``sample()``. One that drains is to ``withdraw(_:)`` instead.
    /// - Throws: `RedisError`.
    package func announce(_ gateway: GatewayID, _ lease: GatewayLease) async throws(RedisError) {
        var record = FieldWriter()
        // Discovery reads many, and has no use for hooks.
        let listed = GatewayLease(host: lease.host, port: lease.port, connections: lease.connections)
        listed.write(to: &record)
        try await announce(gateway, record)
    }

    /// Some of the gateways that are alive and do not drain, drawn at random: up to ``sampleSize``, so that what a call
    /// costs does not grow with the cluster. A gateway whose record cannot be parsed, for instance during an upgrade
    /// that changes the format, is omitted.
    /// - Throws: `RedisError`.
    package func sample() async throws(RedisError) -> [LiveGateway] {
        let fleet = GatewayID.fleet
        let command = RedisCommand.function(
            "lease_sample", keys: [fleet.members, fleet.records],
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

    /// Reads what some gateways write into their leases. A gateway's leases are in slots of several masters; the first
    /// lease that can be read counts.
    /// - Returns: the leases of the gateways that live and do not drain. A gateway is missing also when none of its
    ///   leases can be read now.
    /// - Throws: `RedisError` when no lease of any gateway can be read.
    package func leases(of gateways: [GatewayID]) async throws(RedisError) -> [GatewayID: GatewayLease] {
        var leases: [GatewayID: GatewayLease] = [:]
        var (unread, failure): ([GatewayID], RedisError?) = (gateways, nil)
        for number in 0..<GatewayID.fleet.leases(in: connection.bus) where !unread.isEmpty {
            let asked = unread
            unread = []
            let commands = asked.flatMap { gateway in
                let key = places(of: gateway)[number].key
                return [RedisCommand("GET", key: key), Self.question(at: key)]
            }
            let results = await connection.execute([], then: commands, within: Self.patience)
            for (index, gateway) in asked.enumerated() {
                switch (results[2 * index], results[2 * index + 1]) {
                case (.failure(let error), _), (_, .failure(let error)):
                    failure = error
                    unread.append(gateway)
                case (.success(let record), .success(let time)): leases[gateway] = Self.named(record, time)
                }
            }
        }
        if leases.isEmpty, let failure { throw failure }
        return leases
    }

    /// What a lease tells, unless it has ended or its gateway drains.
    private static func named(_ record: RedisValue, _ time: RedisValue) -> GatewayLease? {
        guard remaining(time) != nil, let bytes = record.bytes, let fields = try? FieldReader(encoded: bytes),
            (try? fields.bool("draining")) == false
        else { return nil }
        return try? GatewayLease(from: fields)
    }
}

extension ProcessLeases<BridgeID> {
    /// Renews or creates a sip-bridge's lease.
    /// - Parameter isDraining: whether the bridge takes no further calls and is about to end.
    /// - Returns: whether the lease existed. At the first heartbeat it does not. Later, false means that the watcher
    ///   may have acted or that Redis has lost its data: the bridge must then give up its calls.
    /// - Throws: `RedisError`.
    package func renew(_ bridge: BridgeID, isDraining: Bool = false) async throws(RedisError) -> Bool {
        try await renew(bridge, at: only(bridge)) { $0.put("draining", isDraining) }
    }

    /// Sets the watcher's timer to the end of a sip-bridge's lease that is renewed now.
    /// - Throws: `RedisError`.
    package func watch(_ bridge: BridgeID) async throws(RedisError) { try await watch(bridge, at: only(bridge)) }

    private func only(_ bridge: BridgeID) -> LeasePlace { places(of: bridge)[0] }

    /// Lists a sip-bridge, with a record without fields. One that drains is to ``withdraw(_:)`` instead.
    /// - Throws: `RedisError`.
    package func announce(_ bridge: BridgeID) async throws(RedisError) { try await announce(bridge, FieldWriter()) }
}
