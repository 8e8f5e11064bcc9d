internal import ClusterBus
internal import RedisClient
internal import SignalingProtocol

/// The living gateways, as far as discovery reads them.
struct GatewayDirectory: Sendable {
    /// Some of them, drawn at random; all if they are fewer than ``GatewayLeases/sampleSize``.
    var sample: @Sendable () async throws -> [LiveGateway]
    /// The ids of all; some may have ended.
    var list: @Sendable () async throws -> [GatewayID] = { [] }
    /// What these tell now; without those that have ended or drain.
    var leases: @Sendable ([GatewayID]) async throws -> [GatewayID: GatewayLease] = { _ in [:] }
}

extension GatewayDirectory {
    /// Reads the leases in Redis.
    init(_ redis: RedisFailover) {
        self.init(
            sample: { try await redis.perform { try await GatewayLeases(connection: $0).sample() } },
            list: { try await redis.perform { try await GatewayLeases(connection: $0).list() } },
            leases: { ids in try await redis.perform { try await GatewayLeases(connection: $0).leases(of: ids) } })
    }
}
