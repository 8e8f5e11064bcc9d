internal import PostgresStore
package import ServiceKit

/// The settings of a presence process.
package struct PresenceConfiguration: Sendable {
    /// Whether sessions are copied into PostgreSQL; default true.
    package var mirrors = true
    /// How many events of an app wait for its webhook; default 1,000,000.
    package var webhookBacklog = WebhookOutbox.standardBacklog

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_MIRRORS` and `HELIOGRAPH_WEBHOOKS_BACKLOG`.
    package init(reading environment: inout EnvironmentReader) {
        mirrors = environment.bool("MIRRORS", default: true, "whether sessions are copied into PostgreSQL")
        webhookBacklog = environment.int(
            "WEBHOOKS_BACKLOG", default: webhookBacklog, in: WebhookOutbox.backlogs,
            "events that wait for a webhook; beyond twice as many, none is queued")
    }
}
