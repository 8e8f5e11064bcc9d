internal import GatewayLogic
internal import RedisStore
internal import SignalingProtocol

/// The clocks and settings for the sessions of a shard.
final class ShardEnvironment: SessionEnvironment, Sendable {
    private let clock: RedisClock
    let callTimeout: LocalTime.Span
    let enforcesTokenExpiry: Bool

    init(_ configuration: GatewayConfiguration, clock: RedisClock) {
        self.clock = clock
        callTimeout = LocalTime.Span(configuration.commandTimeout)
        enforcesTokenExpiry = configuration.enforcesTokenExpiry
    }

    var localTime: LocalTime { .now }
    var redisTime: RedisTime? { clock.now }
    var unixTime: Int64 { WallClock.seconds }
}
