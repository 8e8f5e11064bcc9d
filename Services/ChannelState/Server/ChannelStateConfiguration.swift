internal import PostgresStore
package import ServiceKit

/// The settings of a channel-state process.
package struct ChannelStateConfiguration: Sendable {
    /// How long the version of an ended channel's attributes is kept.
    package var versionRetention: Duration = .seconds(86_400)
    /// Whether memberships are copied into PostgreSQL; default true.
    package var mirrors = true
    /// How many events of an app wait for its webhook; default 1,000,000.
    package var webhookBacklog = WebhookOutbox.standardBacklog

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_CHANNEL_VERSION_RETENTION`, `HELIOGRAPH_MIRRORS` and `HELIOGRAPH_WEBHOOKS_BACKLOG`.
    package init(reading environment: inout EnvironmentReader) {
        self.init()
        versionRetention = environment.duration(
            "CHANNEL_VERSION_RETENTION", default: versionRetention, in: .seconds(60)...(.seconds(31_536_000)),
            "how long the version of an ended channel's attributes is kept")
        mirrors = environment.bool("MIRRORS", default: true, "whether memberships are copied into PostgreSQL")
        webhookBacklog = environment.int(
            "WEBHOOKS_BACKLOG", default: webhookBacklog, in: WebhookOutbox.backlogs,
            "events that wait for a webhook; beyond twice as many, none is queued")
    }
}
