package import SignalingProtocol

/// The settings and clocks that all sessions of one shard share. A clock is read only when an event needs it.
package protocol SessionEnvironment: AnyObject {
    /// A monotonic clock in nanoseconds, also used for the arrival times of frames.
    var uptime: UInt64 { get }
    /// The present moment by Redis' clock, by which messages expire; nil while it is unknown.
    var redisTime: RedisTime? { get }
    /// Seconds since 1970, by which tokens expire.
    var unixTime: Int64 { get }
    /// The time limit of a call, from its arrival to its answer, in nanoseconds.
    var callTimeout: UInt64 { get }
    /// Whether a session ends when its login token expires.
    var enforcesTokenExpiry: Bool { get }
}
