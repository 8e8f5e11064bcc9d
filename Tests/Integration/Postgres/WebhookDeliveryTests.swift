import BusProtocol
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// What is remembered of requests to receivers, and how a secret is replaced.
@Suite struct WebhookDeliveryTests {
    private static let lease = Duration.seconds(60)
    private static let horizon = WebhookQueue.Horizon(microseconds: .max, patience: .seconds(60))
    private static let first = "whsec-first-0123456789"
    private static let second = "whsec-second-0123456789"
    private static let third = "whsec-third-0123456789"
    private static let taken = WebhookQueue.Exchange(events: 1, status: 200, duration: .milliseconds(12))
    private static let late = WebhookQueue.Exchange(events: 2, status: nil, duration: .seconds(10))

    private let pool: PostgresPool
    private let queue: WebhookQueue
    private let store: WebhookStore
    private let webhook: Webhook

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        queue = WebhookQueue(pool: pool, process: "one")
        store = WebhookStore(pool: pool)
        webhook = Webhook(
            WebhookKey(app: try AppID("a")), url: try #require(WebhookURL("https://a.example.com/")), secret: Self.first
        )
        try await pool.query("INSERT INTO apps (id, certificate, token_required) VALUES ('a', '', false)")
        #expect(try await store.set(webhook))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body)
            SELECT 'a', i, 'e' || i, 'join', '{}' FROM generate_series(1, 9) i
            """
        )
    }

    private func claim() async throws -> Webhook {
        try await queue.release(webhook.key)
        return try #require(try await queue.claim(1, lease: Self.lease, Self.horizon).first).webhook
    }

    private func deliveries(failed: Bool = false, limit: Int = 100) async throws -> [WebhookDelivery] {
        try await store.deliveries(webhook.key, failed: failed, limit: limit)
    }

    /// Requests that began so long ago, with the numbers of events 1, 2, 3 ...
    private func remember(_ count: Int, age: Duration = .zero) async throws {
        try await pool.query(
            """
            INSERT INTO webhook_requests (app, at, events, attempt, status, duration_ms)
            SELECT 'a', now() - make_interval(secs => $2::bigint), i, 1, 200, 5 FROM generate_series(1, $1::bigint) i
            """, [.int(Int64(count)), .int(age.components.seconds)])
    }

    // MARK: - Requests

    @Test func eachRequestIsNotedWithItsOutcome() async throws {
        _ = try await claim()
        try await queue.failed(webhook, "no answer in time", Self.late, pause: .zero, lease: Self.lease)
        let events = try await queue.next(webhook.key, limit: 1, Self.horizon)
        _ = try await queue.delivered(events, of: webhook.key, Self.taken, lease: Self.lease)
        _ = try await queue.delivered([], of: webhook.key, Self.taken, lease: Self.lease)
        let noted = try await deliveries()
        #expect(noted.map(\.attempt) == [1, 2, 1])
        #expect(noted.map(\.events) == [1, 1, 2])
        #expect(noted.map(\.status) == [200, 200, nil])
        #expect(noted.map(\.error) == [nil, nil, "no answer in time"])
        #expect(noted.map(\.duration) == [12, 12, 10_000])
        // The time is that of the request's beginning.
        #expect(noted[1].at - noted[2].at > 9_000)
        #expect(try await deliveries(failed: true) == [noted[2]])
        #expect(try await deliveries(limit: 1) == [noted[0]])
    }

    @Test func aRequestToAFormerURLIsNotedToo() async throws {
        _ = try await claim()
        var other = webhook
        other.url = try #require(WebhookURL("https://b.example.com/"))
        #expect(try await store.set(other))
        try await queue.failed(webhook, "no answer in time", Self.late, pause: .zero, lease: Self.lease)
        #expect(try await deliveries().map(\.attempt) == [1])
        #expect(try await store.list().map(\.attempts) == [0])
    }

    @Test func theOldestAreForgottenInPortions() async throws {
        try await remember(WebhookQueue.portion + 30)
        #expect(try await queue.excessRequests(webhook.key, keeping: WebhookQueue.portion + 30) == nil)
        let last = try #require(try await queue.excessRequests(webhook.key, keeping: 20))
        #expect(try await queue.forgetRequests(webhook.key, upTo: last) == WebhookQueue.portion)
        #expect(try await queue.forgetRequests(webhook.key, upTo: last) == 10)
        #expect(try await deliveries().map(\.events) == (5_011...5_030).reversed())
    }

    @Test func whatIsTooOldIsForgotten() async throws {
        try await remember(2, age: WebhookQueue.requestsKeptFor + .seconds(60))
        try await remember(1, age: WebhookQueue.requestsKeptFor - .seconds(60))
        #expect(try await queue.forgetRequests(olderThan: WebhookQueue.requestsKeptFor) == 2)
        #expect(try await deliveries().count == 1)
    }

    @Test func requestsGoWithTheWebhook() async throws {
        try await remember(3)
        #expect(try await store.remove(webhook.key))
        #expect(try await deliveries() == [])
        // A process that did not know of it yet.
        #expect(try await queue.delivered([], of: webhook.key, Self.taken, lease: Self.lease) == nil)
    }

    // MARK: - Secrets

    @Test func bothSecretsSignUntilTheOverlapEnds() async throws {
        #expect(try await store.rotate(webhook.key, to: Self.second, overlap: .seconds(60)))
        #expect(try await claim().secrets == [Self.second, Self.first])
        #expect(try await store.list().first?.formerSecretUntil != nil)
        try await pool.query("UPDATE webhooks SET former_secret_until = now() - interval '1 s'")
        #expect(try await claim().secrets == [Self.second])
        #expect(try await store.list().first?.formerSecretUntil == nil)
        try await queue.forgetFormerSecrets()
        let kept = try await pool.query("SELECT count(former_secret) AS secrets FROM webhooks")
        #expect(try kept.first?.int64("secrets") == 0)
    }

    @Test func aSecretThatSignsIsNotForgotten() async throws {
        #expect(try await store.rotate(webhook.key, to: Self.second, overlap: .seconds(60)))
        try await queue.forgetFormerSecrets()
        #expect(try await claim().secrets == [Self.second, Self.first])
        #expect(try await store.endRotation(webhook.key))
        #expect(try await claim().secrets == [Self.second])
        #expect(try await !store.endRotation(webhook.key))
    }

    @Test func onlyTheLatestOfTheSecretsBeforeSigns() async throws {
        #expect(try await store.rotate(webhook.key, to: Self.second, overlap: .seconds(60)))
        #expect(try await store.rotate(webhook.key, to: Self.third, overlap: .seconds(60)))
        #expect(try await claim().secrets == [Self.third, Self.second])
        #expect(try await !store.rotate(webhook.key, to: Self.third, overlap: .seconds(60)))
        #expect(try await claim().secrets == [Self.third, Self.second])
        #expect(try await store.rotate(webhook.key, to: Self.first, overlap: .zero))
        #expect(try await claim().secrets == [Self.first])
    }

    @Test func toSetTheWebhookWithTheSameSecretEndsNoOverlap() async throws {
        var changed = webhook
        changed.secret = Self.second
        #expect(try await store.set(changed, overlap: .seconds(60)))
        #expect(try await claim().secrets == [Self.second, Self.first])
        changed.batch = 7
        #expect(try await store.set(changed, overlap: .zero))
        #expect(try await claim().secrets == [Self.second, Self.first])
        changed.secret = Self.third
        #expect(try await store.set(changed, overlap: .zero))
        #expect(try await claim().secrets == [Self.third])
    }
}
