internal import ClusterState
internal import Logging
internal import RedisClient
internal import WebhookClient

/// What the shards of one gateway process have in common.
struct GatewayProcess: Sendable {
    let configuration: GatewayConfiguration
    let redis: RedisConfiguration
    /// Counts what clients do by address.
    let addressLimiter: AddressLimiter
    /// Makes the requests to apps' servers.
    var hooks = WebhookTransport()
    /// The lowest level of the running processes, above which no command is sent.
    var level: @Sendable () -> Int64 = { ClusterLevel.current }
    let logger: Logger
}
