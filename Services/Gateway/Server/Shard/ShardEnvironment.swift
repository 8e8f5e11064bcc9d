internal import GatewayLogic
internal import RedisStore
internal import SignalingProtocol

/// The clocks and settings for the sessions of a shard.
final class ShardEnvironment: SessionEnvironment, Sendable {
    private let clock: RedisClock
    let callTimeout: LocalTime.Span
    /// See ``GatewayConfiguration/idleTimeout``.
    let idleTimeout: LocalTime.Span
    /// See ``GatewayConfiguration/loginTimeout``.
    let loginTimeout: LocalTime.Span
    let enforcesTokenExpiry: Bool

    init(_ configuration: GatewayConfiguration, clock: RedisClock) {
        self.clock = clock
        callTimeout = LocalTime.Span(configuration.commandTimeout)
        idleTimeout = LocalTime.Span(configuration.idleTimeout)
        loginTimeout = LocalTime.Span(configuration.loginTimeout)
        enforcesTokenExpiry = configuration.enforcesTokenExpiry
    }

    var localTime: LocalTime { .now }
    var redisTime: RedisTime? { clock.now }
    var unixTime: Int64 { WallClock.seconds }
}
