internal import ClusterState
internal import GatewayLogic
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol

/// The clocks and settings for the sessions of a shard.
final class ShardEnvironment: SessionEnvironment, Sendable {
    private let clock: RedisClock
    let callTimeout: UInt64
    let enforcesTokenExpiry: Bool

    init(_ configuration: GatewayConfiguration, clock: RedisClock) {
        self.clock = clock
        callTimeout = UInt64(TimeAmount(configuration.commandTimeout).nanoseconds)
        enforcesTokenExpiry = configuration.enforcesTokenExpiry
    }

    var uptime: UInt64 { NIODeadline.now().uptimeNanoseconds }
    var redisTime: RedisTime? { clock.now }
    var unixTime: Int64 { WallClock.milliseconds / 1000 }
}
