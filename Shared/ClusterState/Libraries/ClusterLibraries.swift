/// The cluster's libraries, one per owner: only the functions of an owner's library write that owner's keys. The source of
/// each is in the folder of that name below `Functions/`.
extension RedisFunctionLibrary {
    /// Presence's: who is online, and the cache of users' attributes.
    package static let presence = RedisFunctionLibrary(
        name: "heliograph_presence", constants: .sessions,
        parts: [PackageResources.session_place_lua, PackageResources.presence_lua])

    /// Presence's too: which channel a session is in. Channel-state calls these functions: they are the only way to write
    /// what the session's record says of channels.
    package static let memberships = RedisFunctionLibrary(
        name: "heliograph_memberships",
        parts: [PackageResources.session_place_lua, PackageResources.memberships_lua])

    /// Channel-state's: members, attributes, counters and the life of channels.
    package static let channels = RedisFunctionLibrary(
        name: "heliograph_channels", constants: .channels,
        parts: [
            PackageResources.channels_lua, PackageResources.channel_counters_lua, PackageResources.channel_members_lua,
            PackageResources.channel_attributes_lua, PackageResources.channel_life_lua,
        ])

    /// The invitation service's: calls, and the lines to telephones.
    package static let calls = RedisFunctionLibrary(
        name: "heliograph_calls", constants: .calls, parts: [PackageResources.calls_lua])

    /// The gateways' hot path: mailboxes, messages, and reading channel logs.
    package static let messages = RedisFunctionLibrary(
        name: "heliograph_messages", constants: .channelLogs,
        parts: [
            PackageResources.mailbox_lua, PackageResources.mailbox_reading_lua, PackageResources.messages_lua,
            PackageResources.channel_log_lua,
        ])

    /// Leases of gateways and sip-bridges, see ``LeaseFleet``.
    package static let leases = RedisFunctionLibrary(
        name: "heliograph_gateways", parts: [PackageResources.gateways_lua])

    /// Services' timers.
    package static let timers = RedisFunctionLibrary(name: "heliograph_due", parts: [PackageResources.due_lua])

    /// Appending to streams in a full Redis.
    package static let streams = RedisFunctionLibrary(
        name: "heliograph_streams", parts: [PackageResources.streams_lua])
}
