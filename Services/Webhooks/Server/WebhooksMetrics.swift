internal import ServiceMetrics
internal import WebhookClient

/// What a webhooks process counts, besides queries.
struct WebhooksMetrics: Sendable {
    /// The metrics of this process.
    static let shared = WebhooksMetrics()

    let delivered = Counter("heliograph_webhook_events_delivered_total", "Events that receivers have taken.")
    let failures = CounterSet<WebhookFailure.Cause>(
        "heliograph_webhook_requests_failed_total", "Requests to receivers that failed, and are repeated.",
        label: "cause")
    let dead = Counter("heliograph_webhook_events_dead_total", "Events that became dead letters.")
    let buried = Counter(
        "heliograph_webhook_dead_letters_deleted_total", "Dead letters deleted because they were too old or too many.")
    let requests = Histogram(
        "heliograph_webhook_request_seconds", "Time from the look-up of a receiver's name to the end of its answer.")
    let backlog = Gauge(
        "heliograph_webhook_backlog",
        "Events that wait in PostgreSQL, of all webhooks, each up to its bound; the same in every process.")
    let oldest = Gauge(
        "heliograph_webhook_oldest_seconds", "How long the oldest of them has been waiting.")
    let sending = Gauge("heliograph_webhook_targets", "Receivers that this process is sending to.")
}
