internal import GatewayLogic
internal import Pacing
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol

/// The clocks and settings for the sessions of a shard.
final class ShardEnvironment: SessionEnvironment, Sendable {
    private let redis: RedisClient
    let callTimeout: LocalTime.Span
    /// See ``GatewayConfiguration/idleTimeout``.
    let idleTimeout: LocalTime.Span
    /// See ``GatewayConfiguration/loginTimeout``.
    let loginTimeout: LocalTime.Span
    let enforcesTokenExpiry: Bool
    /// ``GatewayConfiguration/messageTimeToLiveBound`` in seconds, as messages have it.
    let longestMessageSeconds: Int
    /// See ``GatewayConfiguration/channelPause``.
    let longestChannelPause: LocalTime.Span

    init(_ configuration: GatewayConfiguration, redis: RedisClient) {
        self.redis = redis
        callTimeout = LocalTime.Span(configuration.commandTimeout)
        idleTimeout = LocalTime.Span(configuration.idleTimeout)
        loginTimeout = LocalTime.Span(configuration.loginTimeout)
        enforcesTokenExpiry = configuration.enforcesTokenExpiry
        longestMessageSeconds = Int(configuration.messageTimeToLiveBound.components.seconds)
        longestChannelPause = LocalTime.Span(configuration.channelPause)
    }

    var localTime: LocalTime { .now }
    var redisTime: RedisTime? { redis.clock(ofSlot: 0)?.now }
    var unixTime: Int64 { WallClock.seconds }
}
