internal import ClusterState
internal import InvitationLogic
internal import PostgresStore
internal import RedisClient
package import ServiceKit

/// The settings of the invitation service.
package struct InvitationConfiguration: Sendable {
    /// How long an acknowledged invitation rings; default 60 s.
    package var ringLimit: Duration = .seconds(60)
    /// How many days the call log keeps a call; 0: for ever. Default 400.
    package var callsKeptDays = 400
    /// How often the call log is compared with the calls; default 15 s.
    package var reconciliation = Duration.seconds(15)
    /// Connections to PostgreSQL, for writing the call log and reading trunks; default 2.
    package var postgresConnections = 2
    /// How many events of an app wait for its webhook; default 1,000,000.
    package var webhookBacklog = WebhookOutbox.standardBacklog

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_INVITATION_RING_LIMIT`, `HELIOGRAPH_CALLS_KEPT_DAYS` and `HELIOGRAPH_WEBHOOKS_BACKLOG`.
    package init(reading reader: inout EnvironmentReader) {
        ringLimit = reader.duration(
            "INVITATION_RING_LIMIT", default: .seconds(60), in: .seconds(1)...(.seconds(3600)),
            "how long an acknowledged invitation rings")
        callsKeptDays = reader.int(
            "CALLS_KEPT_DAYS", default: callsKeptDays, in: 0...36_500, "days that the call log keeps a call, 0 for ever"
        )
        webhookBacklog = reader.int(
            "WEBHOOKS_BACKLOG", default: webhookBacklog, in: WebhookOutbox.backlogs,
            "events that wait for a webhook; beyond twice as many, none is queued")
    }

    var durations: CallDurations {
        var durations = CallDurations()
        durations.ring = ringLimit
        return durations
    }
}
