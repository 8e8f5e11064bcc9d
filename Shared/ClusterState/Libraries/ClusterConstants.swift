internal import Pacing
internal import SignalingProtocol

/// Sizes and lifetimes of data in Redis.
package enum ClusterBounds {
    /// The approximate number of events kept in a channel's log.
    package static let channelLogEvents = 2000
    /// About the largest number of events in the log of a special channel.
    package static let announcementLogEvents = 20_000
    /// How long a channel's log outlives its last event.
    package static let channelLogLifetime = Duration.seconds(3600)
    /// How long after a commit older attributes must not be cached: longer than a read of PostgreSQL takes.
    package static let attributeFloorLifetime = Duration.seconds(60)
    /// The approximate number of changes kept for a mirror while nothing copies them. The mirror misses the oldest ones
    /// beyond it until later changes of the same rows correct it.
    package static let mirrorEntries = 1_000_000
    /// The same for each partition of a cluster: a larger stream would hold up both servers while its slot is moved.
    package static let partitionMirrorEntries = 100_000
    /// The approximate number of messages that wait to become events of webhooks while nothing takes them. The oldest
    /// ones beyond it get no event. Fewer than of changes, because a message may be there with its text.
    package static let messageMirrorEntries = 100_000
    /// The same for each partition of a cluster.
    package static let partitionMessageMirrorEntries = 10_000
}

extension LuaConstant {
    /// A code of the protocol.
    fileprivate static func code(_ name: String, _ code: SignalingCode) -> LuaConstant { .integer(name, code.rawValue) }
}

extension [LuaConstant] {
    /// Errors that functions of every library may return.
    static let common: [LuaConstant] = [
        .text("MEMORY_FULL", refusal(.memoryFull)),
        .table(
            "REFUSED", Dictionary(uniqueKeysWithValues: refusals.map { ($0.name, start($0.code, $0.reason)) })),
    ]

    /// The errors of functions by the names that Lua has for them. A function continues them with a text for people.
    static let refusals: [(name: String, code: SignalingCode, reason: SignalingReason)] = [
        ("bad_line", .notLoggedIn, .badLine), ("banned", .loginRejected, .banned),
        ("kept_out", .joinOther, .banned), ("mailbox_full", .messageOther, .mailboxFull),
        ("muted", .messageOther, .muted), ("not_member", .messageOther, .notMember),
        ("replaced", .logoutKicked, .replaced), ("revoked", .loginTokenExpired, .tokenErrorExpired),
        ("session_over", .notLoggedIn, .sessionOver), ("silenced", .messageOther, .banned),
        ("special_channel", .wrongParameter, .specialChannel),
        ("superseded", .joinOther, .superseded), ("timeout", .failed, .timeout),
        ("too_many_attributes", .largeParameter, .tooManyAttributes),
        ("too_many_bars", .failed, .tooManyBans), ("too_many_changes", .failed, .rateLimited),
        ("too_many_messages", .messageOther, .rateLimited),
        ("unavailable", .failed, .unavailable),
    ]

    /// Constants of the libraries about users.
    static let sessions: [LuaConstant] = [
        .integer("ATTRIBUTES", Limits.attributesPerOwner),
        .integer("LEASE_MS", GatewayID.fleet.timeToLive.wholeMilliseconds),
        .integer("FLOOR_MS", ClusterBounds.attributeFloorLifetime.wholeMilliseconds),
        .integer("LEAST_TIMEOUT", Limits.connectionTimeout.lowerBound),
        .integer("MOST_TIMEOUT", Limits.connectionTimeout.upperBound),
        .code("LEFT_OTHER", .leaveOther), .code("LEFT_KICKED", .leaveKicked), .code("LEFT_BY_USER", .leaveByUser),
        .code("LEFT_LOGOUT", .leaveLogout), .code("LEFT_DISCONNECTED", .leaveDisconnected),
        .code("LOGOUT_OTHER", .logoutOther), .code("LOGOUT_KICKED", .logoutKicked),
    ]

    /// Constants of channels' logs, which channel-state's and the messages' library write.
    static let channelLogs: [LuaConstant] = [
        .integer("LOG_EVENTS", ClusterBounds.channelLogEvents),
        .integer("LOG_MS", ClusterBounds.channelLogLifetime.wholeMilliseconds),
    ]

    /// Constants of the library of messages.
    static let messages: [LuaConstant] =
        channelLogs + [.integer("LOG_ANNOUNCEMENTS", ClusterBounds.announcementLogEvents)]

    /// Constants of the libraries about channels.
    static let channels: [LuaConstant] =
        channelLogs + [
            .integer("ATTRIBUTES", Limits.attributesPerOwner), .integer("LATEST", Limits.userListLatest),
            .integer("CHANNEL_TTL", Limits.channelTimeToLive),
            .integer("BARS", Limits.restrictionsPerChannel),
            .integer("FLOOR_MS", ClusterBounds.attributeFloorLifetime.wholeMilliseconds),
            .set("BUILT_IN", BuiltInAttribute.Channel.allCases.filter { !$0.isReadOnly }.map(\.rawValue)),
        ]

    /// Constants of the libraries about calls.
    static let calls: [LuaConstant] = [.integer("LOG_LENGTH", ClusterBounds.mirrorEntries)]

    /// An error as the error reply of a function; `RedisError.signaling` parses it.
    private static func refusal(_ error: SignalingError) -> String {
        start(error.code, error.reason) + error.message
    }

    private static func start(_ code: SignalingCode, _ reason: SignalingReason) -> String {
        "SIG \(code.rawValue) \(reason) "
    }
}
