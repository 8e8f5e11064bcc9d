internal import RedisStore

extension ChannelFunctions {
    /// The libraries of Redis Functions that the service keeps loaded.
    ///
    /// `heliograph_channels` is one library in several files: functions of different libraries cannot share code.
    static let libraries = [
        RedisFunctionLibrary(
            name: "heliograph_channels",
            parts: [
                PackageResources.channels_lua, PackageResources.channel_counters_lua,
                PackageResources.channel_members_lua, PackageResources.channel_attributes_lua,
                PackageResources.channel_life_lua,
            ]),
        RedisFunctionLibrary(name: "heliograph_memberships", parts: [PackageResources.memberships_lua]),
    ]
}
