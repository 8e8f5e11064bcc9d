public import RedisStore
public import SignalingProtocol

/// A gateway as discovery sees it.
public struct GatewayLease: Equatable, Sendable {
    /// Which gateway.
    public var gateway: GatewayID
    /// What it says of itself: JSON text with its public addresses and load. Only gateways read it.
    public var text: String

    /// Makes the record.
    public init(gateway: GatewayID, text: String) {
        self.gateway = gateway
        self.text = text
    }
}

/// The leases that gateways keep up while they live, library `heliograph_gateways`.
///
/// A gateway (each shard is one) calls ``heartbeat(_:text:discoverable:)`` every ``interval``, first of all before it
/// opens sessions. When a lease ends, presence detaches the gateway's sessions as of the last heartbeat. A connection
/// that is used for this must load ``library``.
public struct GatewayLeases: Sendable {
    /// The library that the functions are in.
    public static let library = RedisFunctionLibrary(
        name: "heliograph_gateways", parts: [PackageResources.gateways_lua])
    /// Milliseconds that a lease lives after a heartbeat.
    public static let timeToLive: Int64 = 10_000
    /// Milliseconds between heartbeats.
    public static let interval: Int64 = 2000
    /// The ids that discovery must not name.
    static let draining = "gateways:draining"

    private let connection: RedisConnection

    /// Works over `connection`, from anywhere.
    public init(connection: RedisConnection) { self.connection = connection }

    /// Renews a gateway's lease, or begins it.
    /// - Parameters:
    ///   - text: JSON with its public addresses and load, given to all gateways by ``list()``.
    ///   - discoverable: false while it drains: it lives, but discovery does not name it.
    /// - Returns: whether the lease was still there. False at the first heartbeat; later it means that presence may have
    ///   detached the sessions, or that Redis lost them: the gateway reasserts everything.
    /// - Throws: `RedisError`.
    public func heartbeat(
        _ gateway: GatewayID, text: String, discoverable: Bool = true
    ) async throws(RedisError) -> Bool {
        let command = Self.call(
            "gateway_heartbeat", gateway,
            [.string(gateway.rawValue), .string(text), .int64(Self.timeToLive), discoverable ? 1 : 0])
        return try await connection.execute(command).int == 1
    }

    /// Ends a gateway's lease: discovery forgets it, and presence detaches at once what it still holds.
    /// - Throws: `RedisError`.
    public func leave(_ gateway: GatewayID) async throws(RedisError) {
        _ = try await connection.execute(Self.call("gateway_leave", gateway, [.string(gateway.rawValue)]))
    }

    /// The gateways that live and do not drain, by the time of their last heartbeat.
    /// - Throws: `RedisError`.
    public func list() async throws(RedisError) -> [GatewayLease] {
        let start = KeySpace.lease(GatewayID(""))
        let command = Self.call("gateway_list", GatewayID(""), [.string(start), .int64(Self.timeToLive)])
        let texts = (try await connection.execute(command).array ?? []).map { $0.string ?? "" }
        return stride(from: 0, to: texts.count - 1, by: 2).map {
            GatewayLease(gateway: GatewayID(texts[$0]), text: texts[$0 + 1])
        }
    }

    /// For presence, when a gateway's timer fires.
    /// - Returns: nil while the lease lives; else the time of the last heartbeat (ms, Redis clock), 0 when not known.
    /// - Throws: `RedisError`.
    public func lost(_ gateway: GatewayID) async throws(RedisError) -> Int64? {
        try await connection.execute(Self.call("gateway_lost", gateway, [.string(gateway.rawValue)])).int
    }

    /// For presence, when a lost gateway's sessions are all detached; no effect while the lease lives.
    /// - Throws: `RedisError`.
    public func forget(_ gateway: GatewayID) async throws(RedisError) {
        _ = try await connection.execute(Self.call("gateway_forget", gateway, [.string(gateway.rawValue)]))
    }

    private static func call(_ function: String, _ gateway: GatewayID, _ arguments: [RedisArgument]) -> RedisCommand {
        let keys = [
            KeySpace.lease(gateway), KeySpace.gateways, draining, KeySpace.due(.presence), KeySpace.sessions(gateway),
        ]
        return RedisCommand(
            "FCALL", arguments: [.string(function), .int(keys.count)] + keys.map { .string($0) } + arguments)
    }
}
