package import SignalingProtocol

/// Names of everything in Redis.
///
/// Each part that a client may choose is escaped, so that names with colons or braces cannot collide across users,
/// channels and apps. The braces are Redis Cluster hash tags: all keys of one user, and all of one channel, share a slot.
package enum KeySpace {
    /// The common start of a user's keys: `{a:APP:u:ACCOUNT}`. Functions take it as their one key and append suffixes.
    package static func tag(_ user: UserKey) -> String {
        "{a:\(escape(user.app.rawValue)):u:\(escape(user.account.rawValue))}"
    }

    /// The common start of an app's own keys: `{a:APP}`.
    package static func tag(_ app: AppID) -> String { "{a:\(escape(app.rawValue))}" }

    /// The common start of a channel's keys: `{a:APP:c:CHANNEL}`.
    package static func tag(_ channel: ChannelKey) -> String {
        "{a:\(escape(channel.app.rawValue)):c:\(escape(channel.name.rawValue))}"
    }

    /// The common start of a call's keys: `{a:APP:i:CHANNEL:CALLER:CALLEE}`.
    package static func callTag(channel: ChannelKey, caller: Account, callee: Account) -> String {
        let parties = "\(escape(caller.rawValue)):\(escape(callee.rawValue))"
        return "{a:\(escape(channel.app.rawValue)):i:\(escape(channel.name.rawValue)):\(parties)}"
    }

    /// A call's record, a hash.
    /// - Parameter tag: as ``callTag(channel:caller:callee:)`` gives it.
    package static func call(tag: String) -> String { tag + ":call" }

    /// The pub/sub topic of a channel's events.
    package static func topic(_ channel: ChannelKey) -> String { tag(channel) + ":events" }

    /// The pub/sub topic of one gateway: replies to its commands, and events for its sessions.
    package static func topic(_ gateway: GatewayID) -> String { "gateway:\(gateway.rawValue):events" }

    /// A gateway's lease, a string with time to live that holds its public addresses and load.
    package static func lease(_ gateway: GatewayID) -> String { "gateway:\(gateway.rawValue)" }

    /// The set of sessions (as ``Line`` routes) of a gateway; a hint, verified against each session's hash.
    package static func sessions(_ gateway: GatewayID) -> String { "gateway:\(gateway.rawValue):sessions" }

    /// Gateway ids by the time of their last heartbeat (ms).
    package static let gateways = "gateways"

    /// A sip-bridge's lease, a string with time to live.
    package static func bridgeLease(_ bridge: GatewayID) -> String { "bridge:\(bridge.rawValue)" }

    /// The common start of what is kept of a sip-bridge's calls: `{bridge:ID}`.
    package static func bridgeTag(_ bridge: GatewayID) -> String { "{bridge:\(bridge.rawValue)}" }

    /// Ids of sip-bridges by the time of their last heartbeat (ms).
    package static let bridges = "bridges"

    /// The stream of a service's commands that somebody waits for.
    package static func commands(_ service: ServiceName) -> String { "cmd:\(service.rawValue)" }

    /// The stream of a service's commands that nobody waits for. It is never cut: they stay until they are done.
    package static func posts(_ service: ServiceName) -> String { "post:\(service.rawValue)" }

    /// The stream of what was taken off a service's other streams, because no instance could handle it.
    package static func setAside(_ service: ServiceName) -> String { "dead:\(service.rawValue)" }

    /// The stream of one sip-bridge's own commands: orders about the calls that it holds.
    package static func commands(_ bridge: GatewayID) -> String { "cmd:sip-bridge:\(bridge.rawValue)" }

    /// Libraries of Redis Functions by the time at which a process named them last (ms).
    package static let libraries = "libraries"

    /// A service's deadlines.
    package static func due(_ service: ServiceName) -> String { "due:\(service.rawValue)" }

    /// Which process does a piece of work that one process of all does at a time.
    /// - Parameter name: of the work, among all services.
    package static func round(_ name: String) -> String { "round:\(name)" }

    /// The set of a sip-bridge's calls.
    package static func calls(_ bridge: GatewayID) -> String { bridgeTag(bridge) + ":calls" }

    /// Ids of gateways that discovery must not name, because they drain.
    package static let drainingGateways = "gateways:draining"

    /// Ids of sip-bridges that drain.
    package static let drainingBridges = "bridges:draining"

    /// The stream of changes that a service copies into PostgreSQL.
    package static func mirror(_ service: ServiceName) -> String { "mirror:\(service.rawValue)" }

    private static func escape(_ text: String) -> String { PercentEscape.escape(text) }
}
