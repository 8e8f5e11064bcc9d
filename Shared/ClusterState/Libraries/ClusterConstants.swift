internal import SignalingProtocol

/// Bounds and time spans of what is kept in Redis.
package enum ClusterBounds {
    /// Events that a channel's log keeps, about.
    package static let channelLogEvents = 2000
    /// How long a channel's log outlives its last event.
    package static let channelLogLifetime = Duration.seconds(3600)
    /// How long a commit forbids older attributes to be cached: longer than a read of PostgreSQL takes.
    package static let attributeFloorLifetime = Duration.seconds(60)
    /// Changes that a mirror's stream keeps while nobody copies them, about: the oldest beyond it are lost to the mirror,
    /// which later changes of the same rows repair.
    package static let mirrorEntries = 1_000_000
}

extension [LuaConstant] {
    /// What the functions of every library may answer.
    static let common: [LuaConstant] = [.text("MEMORY_FULL", refusal(.memoryFull))]

    /// Of users.
    static let sessions: [LuaConstant] = [
        .integer("ATTRIBUTES", Limits.attributesPerOwner), .integer("LEASE_MS", LeaseFleet.gateways.timeToLive),
        .integer("FLOOR_MS", milliseconds(ClusterBounds.attributeFloorLifetime)),
        .integer("LEAST_TIMEOUT", Limits.connectionTimeout.lowerBound),
        .integer("MOST_TIMEOUT", Limits.connectionTimeout.upperBound),
    ]

    /// Of channels' logs, which channel-state and messages write.
    static let channelLogs: [LuaConstant] = [
        .integer("LOG_EVENTS", ClusterBounds.channelLogEvents),
        .integer("LOG_MS", milliseconds(ClusterBounds.channelLogLifetime)),
    ]

    /// Of channels.
    static let channels: [LuaConstant] =
        channelLogs + [
            .integer("ATTRIBUTES", Limits.attributesPerOwner), .integer("LATEST", Limits.userListLatest),
            .integer("CHANNEL_TTL", Limits.channelTimeToLive),
            .integer("FLOOR_MS", milliseconds(ClusterBounds.attributeFloorLifetime)),
            .set("BUILT_IN", BuiltInAttribute.Channel.allCases.filter { !$0.isReadOnly }.map(\.rawValue)),
        ]

    /// Of calls.
    static let calls: [LuaConstant] = [.integer("LOG_LENGTH", ClusterBounds.mirrorEntries)]

    private static func milliseconds(_ span: Duration) -> Int64 { Int64(span / .milliseconds(1)) }

    /// The error reply of a function, which `RedisError.signaling` reads.
    private static func refusal(_ error: SignalingError) -> String {
        "SIG \(error.code.rawValue) \(error.reason) \(error.message)"
    }
}
