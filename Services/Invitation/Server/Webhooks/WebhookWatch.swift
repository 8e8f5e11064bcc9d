internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics

/// Shows how many apps have webhooks, and how these are doing: a cluster without
/// webhooks processes would not say so.
struct WebhookWatch: Service {
    /// How often it looks.
    private static let pause = Duration.seconds(15)

    let store: WebhookStore
    let logger: Logger

    func run() async throws {
        await PeriodicTask(
            every: Self.pause, jitter: 0.75...1.25, complaint: "could not look how webhooks are doing", logger: logger
        ).run {
            let (metrics, standings) = (InvitationMetrics.shared, try await store.standings())
            metrics.webhookApps.set(Set(standings.map(\.key.app)).count)
            metrics.webhookOldest.set(Int(standings.compactMap(\.oldest).max() ?? 0))
            metrics.webhookFailing.set(Set(standings.filter { $0.failing != nil }.map(\.key.app)).count)
            metrics.webhookDead.set(Int(standings.reduce(0) { $0 + $1.dead }))
        }
    }
}
