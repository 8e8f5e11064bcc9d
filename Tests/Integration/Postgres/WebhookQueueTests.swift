import BusProtocol
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// The queue of webhooks: whose turn it is, and its bounds however much has gathered.
@Suite struct WebhookQueueTests {
    private static let lease = Duration.seconds(60)
    /// Every event may be sent.
    private static let horizon = WebhookQueue.Horizon(microseconds: .max, patience: .seconds(60))
    private static let day = Duration.seconds(86_400)
    private static let taken = WebhookQueue.Exchange(events: 1, status: 200, duration: .milliseconds(12))
    private static let refused = WebhookQueue.Exchange(events: 2, status: nil, duration: .seconds(10))

    private let pool: PostgresPool
    private let queue: WebhookQueue
    private let store: WebhookStore

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        queue = WebhookQueue(pool: pool, process: "one")
        store = WebhookStore(pool: pool)
    }

    /// An app with a webhook and so many events, which happened in the microseconds 1, 2, 3 ...
    private func add(_ app: String, events: Int, age: Duration = .zero) async throws -> Webhook {
        let id = try AppID(app)
        try await pool.query("INSERT INTO apps (id, certificate, token_required) VALUES ($1, '', false)", [.text(app)])
        let url = try #require(WebhookURL("https://old.example.com/"))
        let webhook = Webhook(app: id, url: url, secret: "whsec-0123456789abcdef")
        #expect(try await store.set(webhook))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
            SELECT $1, i, 'e' || i, 'join', '{}', now() - make_interval(secs => $3::bigint)
            FROM generate_series(1, $2::bigint) i
            """, [.text(app), .int(Int64(events)), .int(age.components.seconds)])
        return webhook
    }

    private func claim() async throws -> [WebhookQueue.Claim] {
        try await queue.claim(1, lease: Self.lease, Self.horizon)
    }

    /// The first, the last, and the number of the events in a table.
    private func range(_ table: String) async throws -> [Int64] {
        let rows = try await pool.query(
            "SELECT coalesce(min(at), 0) AS a, coalesce(max(at), 0) AS b, count(*) AS c FROM \(table)")
        return try rows.flatMap { [try $0.int64("a"), try $0.int64("b"), try $0.int64("c")] }
    }

    /// From now on a statement that deletes more events than a portion fails.
    private func refuseLargeStatements() async throws {
        try await pool.query(
            """
            CREATE FUNCTION refuse_large() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT count(*) FROM gone) > \(WebhookQueue.portion) THEN RAISE EXCEPTION 'too many at once'; END IF;
                RETURN NULL; END $$
            """)
        try await pool.query(
            """
            CREATE TRIGGER small AFTER DELETE ON webhook_events REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_large()
            """)
    }

    @Test func whoWasServedLongestAgoIsNext() async throws {
        for app in ["a", "b", "c"] { _ = try await add(app, events: 9) }
        var served: [String] = []
        for _ in 1...6 {
            let claims = try await claim()
            served += claims.map(\.webhook.app.rawValue)
            for claim in claims { try await queue.release(claim.webhook.app) }
        }
        #expect(served.prefix(3).sorted() == ["a", "b", "c"])
        #expect(served.suffix(3) == served.prefix(3))
    }

    @Test func afterADeliveryTheWebhookIsThatOfNow() async throws {
        var webhook = try await add("a", events: 2)
        #expect(try await claim().map(\.webhook) == [webhook])
        webhook.url = try #require(WebhookURL("https://new.example.com/"))
        webhook.formerSecret = webhook.secret
        webhook.secret = "whsec-fedcba9876543210"
        #expect(try await store.set(webhook))
        let first = try await queue.next(webhook.app, limit: 1, Self.horizon)
        #expect(try await queue.delivered(first, of: webhook.app, Self.taken, lease: Self.lease) == webhook)
        // Without a lease there is nothing to go on with.
        try await queue.release(webhook.app)
        #expect(try await queue.delivered([], of: webhook.app, Self.taken, lease: Self.lease) == nil)
    }

    @Test func theFailureOfAFormerURLDoesNotHoldUpTheNewOne() async throws {
        var webhook = try await add("a", events: 2)
        _ = try await claim()
        let former = webhook
        webhook.url = try #require(WebhookURL("https://new.example.com/"))
        #expect(try await store.set(webhook))
        try await queue.failed(former, "no answer in time", Self.refused, pause: .seconds(300), lease: Self.lease)
        try await queue.release(webhook.app)
        #expect(try await claim() == [WebhookQueue.Claim(webhook: webhook, attempts: 0)])
        try await queue.failed(webhook, "no answer in time", Self.refused, pause: .seconds(300), lease: Self.lease)
        try await queue.release(webhook.app)
        #expect(try await claim() == [])
    }

    @Test func whatIsTooOldDiesInPortions() async throws {
        let app = try await add("a", events: 2 * WebhookQueue.portion + 1, age: Self.day * 2).app
        try await refuseLargeStatements()
        // Without a lease it is another process' work.
        #expect(try await queue.expire(app, "down", olderThan: Self.day, lease: Self.lease) == 0)
        _ = try await claim()
        #expect(try await queue.expire(app, "down", olderThan: Self.day * 3, lease: Self.lease) == 0)
        var dead: [Int] = []
        for _ in 1...4 { dead.append(try await queue.expire(app, "down", olderThan: Self.day, lease: Self.lease)) }
        #expect(dead == [WebhookQueue.portion, WebhookQueue.portion, 1, 0])
        #expect(try await range("webhook_dead") == [1, 10_001, 10_001])
    }

    @Test func theOldestAreShed() async throws {
        let app = try await add("a", events: 2 * WebhookQueue.portion).app
        #expect(try await queue.backlog(app, upTo: 11).events == 11)
        #expect(try await queue.excess(app, keeping: 2 * WebhookQueue.portion) == nil)
        let last = try #require(try await queue.excess(app, keeping: 10))
        #expect(last == WebhookQueue.Place(at: 9_990, id: "e9990"))
        #expect(try await queue.shed(app, upTo: last) == WebhookQueue.portion)
        #expect(try await range("webhook_dead") == [1, 5_000, 5_000])
        #expect(try await queue.shed(app, upTo: last) == WebhookQueue.portion - 10)
        #expect(try await range("webhook_events") == [9_991, 10_000, 10])
        #expect(try await queue.shed(app, upTo: last) == 0)
    }

    @Test func whatIsBeingSentIsNotShed() async throws {
        let app = try await add("a", events: 300).app
        _ = try await claim()
        let last = try #require(try await queue.excess(app, keeping: 10))
        // The webhook's batch is 100.
        #expect(try await queue.shed(app, upTo: last) == 190)
        #expect(try await range("webhook_dead") == [101, 290, 190])
        try await queue.release(app)
        #expect(try await queue.shed(app, upTo: last) == 100)
    }

    @Test func deadLettersAreDeletedInPortions() async throws {
        let app = try await add("a", events: WebhookQueue.portion + 20).app
        let last = try #require(try await queue.excess(app, keeping: 10))
        for _ in 1...2 { _ = try await queue.shed(app, upTo: last) }
        #expect(try await queue.appsWithDead() == [app])
        let excess = try #require(try await queue.excessDead(app, keeping: 5))
        #expect(try await queue.buryDead(app, upTo: excess) == WebhookQueue.portion)
        #expect(try await queue.buryDead(app, upTo: excess) == 5)
        #expect(try await range("webhook_dead") == [5_006, 5_010, 5])
        #expect(try await queue.buryDead(olderThan: .seconds(60)) == 0)
        #expect(try await queue.buryDead(olderThan: .zero) == 5)
        #expect(try await queue.appsWithDead() == [])
    }

    @Test func aLargeQueueIsRemovedInPortions() async throws {
        let app = try await add("a", events: 2 * WebhookQueue.portion).app
        try await refuseLargeStatements()
        #expect(try await store.remove(app))
        #expect(try await range("webhook_events") == [0, 0, 0])
        #expect(try await !store.remove(app))
    }
}
