/// The cluster's function libraries, one per owner: an owner's keys are written only by the functions of its library.
/// The Lua source of each is in the owner's folder below `Functions/`.
extension RedisFunctionLibrary {
    /// Owned by presence: who is online, and the cache of users' attributes.
    package static let presence = RedisFunctionLibrary(
        name: "heliograph_presence", constants: .sessions,
        parts: [PackageResources.session_place_lua, PackageResources.routes_lua, PackageResources.presence_lua])

    /// Also owned by presence: the channels that a session is in. Channel-state calls these functions, because only
    /// they may change what a session's record says about channels.
    package static let memberships = RedisFunctionLibrary(
        name: "heliograph_memberships",
        parts: [PackageResources.session_place_lua, PackageResources.memberships_lua])

    /// Owned by channel-state: members, attributes, counters and lifetime of channels.
    package static let channels = RedisFunctionLibrary(
        name: "heliograph_channels", constants: .channels,
        parts: [
            PackageResources.channels_lua, PackageResources.channel_counters_lua, PackageResources.channel_bars_lua,
            PackageResources.channel_members_lua, PackageResources.channel_attributes_lua,
            PackageResources.channel_life_lua,
        ])

    /// Owned by the invitation service: calls and telephone lines.
    package static let calls = RedisFunctionLibrary(
        name: "heliograph_calls", constants: .calls, parts: [PackageResources.calls_lua])

    /// The gateways' hot path: mailboxes, messages, and reads of channel logs.
    package static let messages = RedisFunctionLibrary(
        name: "heliograph_messages", constants: .messages,
        parts: [
            PackageResources.mailbox_lua, PackageResources.mailbox_reading_lua, PackageResources.mailbox_server_lua,
            PackageResources.messages_lua, PackageResources.channel_log_lua,
        ])

    /// The leases of gateways and sip-bridges, see ``LeaseFleet``.
    package static let leases = RedisFunctionLibrary(
        name: "heliograph_gateways", parts: [PackageResources.leases_lua, PackageResources.lease_list_lua])

    /// The timers of all services.
    package static let timers = RedisFunctionLibrary(name: "heliograph_due", parts: [PackageResources.due_lua])

    /// The cluster's running processes and their levels.
    package static let instances = RedisFunctionLibrary(
        name: "heliograph_instances", parts: [PackageResources.instances_lua])

    /// Owned by the server API of the gateways: answers to writes with an idempotency key.
    package static let api = RedisFunctionLibrary(name: "heliograph_api", parts: [PackageResources.idempotency_lua])

    /// Appends to streams that succeed even when Redis is at `maxmemory`.
    package static let streams = RedisFunctionLibrary(
        name: "heliograph_streams", parts: [PackageResources.streams_lua])
}
