package import RedisStore
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

/// A kind of process that keeps leases up: which keys they are under, and who acts when one ends.
package struct LeaseFleet: Equatable, Sendable {
    /// Milliseconds that a lease lives after a heartbeat.
    package let timeToLive: Int64
    /// Milliseconds from a heartbeat to the watcher's look: a little after the lease's end, because a look in its last
    /// millisecond would find it and be the last.
    package var watchDelay: Int64 { timeToLive + 10 }
    /// Milliseconds between heartbeats.
    package let interval: Int64
    /// Names a member's lease.
    let lease: @Sendable (GatewayID) -> String
    /// Ids by the time of their last heartbeat.
    let members: String
    /// Ids that discovery must not name.
    let draining: String
    /// The service that is told, by a timer `gateway:ID`, when a lease ends.
    let watcher: ServiceName
    /// Names what a member holds: forgotten with it.
    let holdings: @Sendable (GatewayID) -> String

    /// By the keys, which differ between any two fleets.
    package static func == (left: LeaseFleet, right: LeaseFleet) -> Bool { left.members == right.members }

    /// Gateways (each shard is one): presence detaches the sessions of a lost one.
    package static let gateways = LeaseFleet(
        timeToLive: 10_000, interval: 2000, lease: KeySpace.lease, members: KeySpace.gateways,
        draining: "gateways:draining", watcher: .presence, holdings: KeySpace.sessions)
    /// Sip-bridges: the invitation service ends the calls of a lost one, within 10 s of its end.
    package static let bridges = LeaseFleet(
        timeToLive: 8000, interval: 1000, lease: KeySpace.bridgeLease, members: KeySpace.bridges,
        draining: "bridges:draining", watcher: .invitation, holdings: { KeySpace.bridgeTag($0) + ":calls" })
}

/// The leases that gateways, and processes like them, keep up while they live; library `heliograph_gateways`.
///
/// A gateway calls ``heartbeat(_:text:discoverable:)`` every ``LeaseFleet/interval``, first of all before it holds anything. When a
/// lease ends, the fleet's watcher acts: presence detaches the gateway's sessions as of the last heartbeat, the
/// invitation service ends a sip-bridge's calls. A connection that is used for this must load ``library``.
package struct GatewayLeases: Sendable {
    /// The library that the functions are in.
    package static let library = RedisFunctionLibrary(
        name: "heliograph_gateways", parts: [PackageResources.gateways_lua])

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
