internal import Pacing
internal import PostgresStore
package import ServiceKit

/// The settings of a webhooks process.
package struct WebhooksConfiguration: Sendable {
    /// How long a request may take, from the look-up of the name to the answer; default 10 s.
    package var timeout = Duration.seconds(10)
    /// The pauses after failed requests; by default 1 s at first, 5 min at most.
    var retries = BackOff(base: .seconds(1), ceiling: .seconds(300))
    /// How long events are tried to be delivered; default a day.
    package var patience = Duration.seconds(86_400)
    /// How long events wait for earlier ones that a service may still report; default 1 s.
    package var settling = Duration.seconds(1)
    /// How long they wait when a service does not report at all; default 60 s.
    package var holding = Duration.seconds(60)
    /// The number of receivers that are sent to at once; default 64.
    package var targets = 64
    /// The number of events, and of dead letters, kept for a webhook; default 1,000,000.
    package var backlog = WebhookOutbox.standardBacklog
    /// How long dead letters are kept; default 7 days.
    package var deadKept = Duration.seconds(7 * 86_400)
    /// The pause between two rounds of keeping the tables small; default 10 s.
    package var upkeep = Duration.seconds(10)
    /// A PEM file with authorities that vouch for receivers, besides the system's.
    package var authorityFile: String?

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_WEBHOOKS_...`.
    package init(reading reader: inout EnvironmentReader) {
        timeout = reader.duration(
            "WEBHOOKS_TIMEOUT", default: timeout, in: .milliseconds(100) ... .seconds(60), "how long a request may take"
        )
        retries.base = reader.duration(
            "WEBHOOKS_RETRY_FIRST", default: retries.base, in: .milliseconds(10) ... .seconds(3600),
            "pause after the first failure; it doubles with each")
        retries.ceiling = reader.duration(
            "WEBHOOKS_RETRY_LONGEST", default: retries.ceiling, in: .milliseconds(10) ... .seconds(86_400),
            "longest pause between two requests")
        patience = reader.duration(
            "WEBHOOKS_RETRY_FOR", default: patience, in: .seconds(1) ... .seconds(30 * 86_400),
            "how long events are tried to be delivered before they are dead letters")
        settling = reader.duration(
            "WEBHOOKS_SETTLE", default: settling, in: .zero ... .seconds(60),
            "how long events wait for earlier ones of other services")
        holding = reader.duration(
            "WEBHOOKS_HOLD", default: holding, in: .milliseconds(100) ... .seconds(3600),
            "how long events wait for a service that does not report at all")
        targets = reader.int("WEBHOOKS_TARGETS", default: targets, in: 1...1000, "receivers that are sent to at once")
        backlog = reader.int(
            "WEBHOOKS_BACKLOG", default: backlog, in: WebhookOutbox.backlogs,
            "events of a webhook that wait; the oldest above it are dead letters, of which as many are kept")
        let days = reader.int("WEBHOOKS_DEAD_DAYS", default: 7, in: 0...365, "days for which dead letters are kept")
        deadKept = .seconds(Int64(days) * 86_400)
        upkeep = reader.duration(
            "WEBHOOKS_UPKEEP", default: upkeep, in: .milliseconds(100) ... .seconds(600),
            "pause between two checks of these bounds")
        authorityFile = reader.optional(
            "WEBHOOKS_TLS_AUTHORITY", "PEM file of who vouches for receivers, besides the system's")
    }
}
