internal import Logging
internal import RedisStore

/// What the shards of one gateway process have in common.
struct GatewayProcess: Sendable {
    let configuration: GatewayConfiguration
    let redis: RedisConfiguration
    /// Counts what clients do by address.
    let addressLimiter: AddressLimiter
    let logger: Logger
}
