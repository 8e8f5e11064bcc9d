package import ServiceKit

/// The settings of a channel-state process.
package struct ChannelStateConfiguration: Sendable {
    /// How long the version of an ended channel's attributes is kept.
    package var versionRetention: Duration = .seconds(86_400)
    /// Whether memberships are copied into PostgreSQL; default true.
    package var mirrors = true

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_CHANNEL_VERSION_RETENTION` and `HELIOGRAPH_MIRRORS`.
    package init(reading environment: inout EnvironmentReader) {
        self.init()
        versionRetention = environment.duration(
            "CHANNEL_VERSION_RETENTION", default: versionRetention, in: .seconds(60)...(.seconds(31_536_000)),
            "how long the version of an ended channel's attributes is kept")
        mirrors = environment.bool("MIRRORS", default: true, "whether memberships are copied into PostgreSQL")
    }
}
