internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics

/// Keeps the queue and the dead letters within their bounds, and shows how much waits.
struct WebhookUpkeep: Service {
    let queue: WebhookQueue
    let configuration: WebhooksConfiguration
    let logger: Logger

    func run() async throws {
        await PeriodicTask(
            every: configuration.upkeep, jitter: 0.75...1.25, complaint: "could not check the webhooks' queue",
            logger: logger
        ).run { try await round() }
    }

    private func round() async throws {
        let (metrics, backlogs) = (WebhooksMetrics.shared, try await queue.backlogs())
        metrics.backlog.set(Int(backlogs.map(\.events).reduce(0, +)))
        metrics.oldest.set(backlogs.map(\.oldest).max() ?? 0)
        for backlog in backlogs where backlog.events > configuration.backlog {
            let dead = try await queue.shed(backlog.app, keeping: configuration.backlog)
            metrics.dead.increment(by: dead)
            logger.warning(
                "more events wait for a webhook than may; the oldest are dead letters",
                metadata: ["app": "\(backlog.app)", "bound": "\(configuration.backlog)", "events": "\(dead)"])
        }
        metrics.buried.increment(
            by: try await queue.buryDead(olderThan: configuration.deadKept, keeping: configuration.backlog))
    }
}
