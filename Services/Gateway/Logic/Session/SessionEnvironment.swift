package import Pacing
package import SignalingProtocol

/// The settings and clocks that all sessions of one shard share. A clock is read only when an event needs it.
package protocol SessionEnvironment: AnyObject {
    /// The present moment by the local clock, by which also the arrival times of frames are told.
    var localTime: LocalTime { get }
    /// The present moment by Redis' clock, by which messages expire; nil while it is unknown.
    var redisTime: RedisTime? { get }
    /// Seconds since 1970, by which tokens expire.
    var unixTime: Int64 { get }
    /// The time limit of a call, from its arrival to its answer.
    var callTimeout: LocalTime.Span { get }
    /// Whether a session ends when its login token expires.
    var enforcesTokenExpiry: Bool { get }
}
