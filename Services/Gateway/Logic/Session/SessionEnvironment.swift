/// What the sessions of one gateway share: its settings and its clocks. The clocks are asked only where an event needs them.
package protocol SessionEnvironment: AnyObject {
    /// Nanoseconds of a clock that never goes back, the one that frames' arrivals are told by.
    var uptime: UInt64 { get }
    /// Milliseconds of Redis' clock, which messages expire by; 0 before it was heard.
    var redisTime: Int64 { get }
    /// Seconds since 1970, which tokens expire by.
    var unixTime: Int64 { get }
    /// Nanoseconds that a call may take, from its arrival to its answer.
    var callTimeout: UInt64 { get }
    /// Whether a session ends with its login's token.
    var enforcesTokenExpiry: Bool { get }
}
