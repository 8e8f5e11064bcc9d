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
    /// All times in Unix seconds.
    private static let always: Range<Int64> = 0..<10_000_000_000
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
        let webhook = Webhook(WebhookKey(app: id), url: url, secret: "whsec-0123456789abcdef")
        #expect(try await store.set(webhook))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
            SELECT $1, i, 'e' || i, 'join', '{}', now() - make_interval(secs => $3::bigint)
            FROM generate_series(1, $2::bigint) i
            """, [.text(app), .int(Int64(events)), .int(age.components.seconds)])
        return webhook
    }

    /// Another webhook of the app, for which the same events wait.
    private func addAnother(_ name: String, to webhook: Webhook) async throws -> Webhook {
        var other = webhook
        other.key = WebhookKey(app: webhook.key.app, name: try #require(WebhookName(name)))
        #expect(try await store.set(other))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, webhook, at, id, kind, body, queued_at)
            SELECT app, $2, at, id, kind, body, queued_at FROM webhook_events WHERE app = $1 AND webhook = 'default'
            """, other.key.parameters)
        return other
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
            served += claims.map(\.webhook.key.app.rawValue)
            for claim in claims { try await queue.release(claim.webhook.key) }
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
        let first = try await queue.next(webhook.key, limit: 1, Self.horizon)
        #expect(try await queue.delivered(first, of: webhook.key, Self.taken, lease: Self.lease) == webhook)
        // Without a lease there is nothing to go on with.
        try await queue.release(webhook.key)
        #expect(try await queue.delivered([], of: webhook.key, Self.taken, lease: Self.lease) == nil)
    }

    @Test func theFailureOfAFormerURLDoesNotHoldUpTheNewOne() async throws {
        var webhook = try await add("a", events: 2)
        _ = try await claim()
        let former = webhook
        webhook.url = try #require(WebhookURL("https://new.example.com/"))
        #expect(try await store.set(webhook))
        try await queue.failed(former, "no answer in time", Self.refused, pause: .seconds(300), lease: Self.lease)
        try await queue.release(webhook.key)
        #expect(try await claim() == [WebhookQueue.Claim(webhook: webhook, attempts: 0)])
        try await queue.failed(webhook, "no answer in time", Self.refused, pause: .seconds(300), lease: Self.lease)
        try await queue.release(webhook.key)
        #expect(try await claim() == [])
    }

    @Test func whatIsTooOldDiesInPortions() async throws {
        let key = try await add("a", events: 2 * WebhookQueue.portion + 1, age: Self.day * 2).key
        try await refuseLargeStatements()
        // Without a lease it is another process' work.
        #expect(try await queue.expire(key, "down", olderThan: Self.day, lease: Self.lease) == 0)
        _ = try await claim()
        #expect(try await queue.expire(key, "down", olderThan: Self.day * 3, lease: Self.lease) == 0)
        var dead: [Int] = []
        for _ in 1...4 { dead.append(try await queue.expire(key, "down", olderThan: Self.day, lease: Self.lease)) }
        #expect(dead == [WebhookQueue.portion, WebhookQueue.portion, 1, 0])
        #expect(try await range("webhook_dead") == [1, 10_001, 10_001])
    }

    @Test func theOldestAreShed() async throws {
        let key = try await add("a", events: 2 * WebhookQueue.portion).key
        #expect(try await queue.backlog(key, upTo: 11).events == 11)
        #expect(try await queue.excess(key, keeping: 2 * WebhookQueue.portion) == nil)
        let last = try #require(try await queue.excess(key, keeping: 10))
        #expect(last == WebhookQueue.Place(at: 9_990, id: "e9990"))
        #expect(try await queue.shed(key, upTo: last) == WebhookQueue.portion)
        #expect(try await range("webhook_dead") == [1, 5_000, 5_000])
        #expect(try await queue.shed(key, upTo: last) == WebhookQueue.portion - 10)
        #expect(try await range("webhook_events") == [9_991, 10_000, 10])
        #expect(try await queue.shed(key, upTo: last) == 0)
    }

    @Test func whatIsBeingSentIsNotShed() async throws {
        let key = try await add("a", events: 300).key
        _ = try await claim()
        let last = try #require(try await queue.excess(key, keeping: 10))
        // The webhook's batch is 100.
        #expect(try await queue.shed(key, upTo: last) == 190)
        #expect(try await range("webhook_dead") == [101, 290, 190])
        try await queue.release(key)
        #expect(try await queue.shed(key, upTo: last) == 100)
    }

    @Test func deadLettersAreDeletedInPortions() async throws {
        let key = try await add("a", events: WebhookQueue.portion + 20).key
        let last = try #require(try await queue.excess(key, keeping: 10))
        for _ in 1...2 { _ = try await queue.shed(key, upTo: last) }
        #expect(try await queue.webhooksWithDead() == [key])
        let excess = try #require(try await queue.excessDead(key, keeping: 5))
        #expect(try await queue.buryDead(key, upTo: excess) == WebhookQueue.portion)
        #expect(try await queue.buryDead(key, upTo: excess) == 5)
        #expect(try await range("webhook_dead") == [5_006, 5_010, 5])
        #expect(try await queue.buryDead(olderThan: .seconds(60)) == 0)
        #expect(try await queue.buryDead(olderThan: .zero) == 5)
        #expect(try await queue.webhooksWithDead() == [])
    }

    @Test func aLargeQueueIsRemovedInPortions() async throws {
        let key = try await add("a", events: 2 * WebhookQueue.portion).key
        try await refuseLargeStatements()
        #expect(try await store.remove(key))
        #expect(try await range("webhook_events") == [0, 0, 0])
        #expect(try await !store.remove(key))
    }

    // MARK: - Several webhooks of an app

    @Test func eachWebhookHasAQueueOfItsOwn() async throws {
        let first = try await add("a", events: 3)
        let other = try await addAnother("archive", to: first)
        let claims = try await queue.claim(9, lease: Self.lease, Self.horizon)
        #expect(Set(claims.map(\.webhook.key)) == [first.key, other.key])
        try await queue.failed(first, "no answer in time", Self.refused, pause: .seconds(300), lease: Self.lease)
        let events = try await queue.next(other.key, limit: 2, Self.horizon)
        #expect(try await queue.delivered(events, of: other.key, Self.taken, lease: Self.lease) == other)
        for key in [first.key, other.key] { try await queue.release(key) }
        #expect(try await claim().map(\.webhook.key) == [other.key])
        #expect(try await queue.backlog(first.key, upTo: 9).events == 3)
        #expect(try await queue.backlog(other.key, upTo: 9).events == 1)
        let records = try await store.list()
        #expect(records.map(\.webhook.key) == [other.key, first.key])
        #expect(records.map(\.attempts) == [0, 1] && records.map(\.events) == [1, 3])
        #expect(try await store.standings().map(\.key) == [other.key, first.key])
        #expect(try await store.deliveries(first.key, failed: false, limit: 9).map(\.error) == ["no answer in time"])
        #expect(try await store.deliveries(other.key, failed: false, limit: 9).map(\.status) == [200])
    }

    @Test func theBoundsAreThoseOfAWebhook() async throws {
        let first = try await add("a", events: 20, age: Self.day * 2)
        let other = try await addAnother("archive", to: first)
        let last = try #require(try await queue.excess(first.key, keeping: 5))
        #expect(try await queue.shed(first.key, upTo: last) == 15)
        _ = try await queue.claim(9, lease: Self.lease, Self.horizon)
        #expect(try await queue.expire(other.key, "down", olderThan: Self.day, lease: Self.lease) == 20)
        #expect(try await queue.webhooksWithDead() == [other.key, first.key])
        #expect(try await store.dead(first.key, limit: 99).count == 15)
        #expect(try await store.replay(other.key, id: nil, died: Self.always, limit: 4) == 4)
        #expect(try await store.dead(other.key, limit: 99).map(\.id).first == "e5")
        let excess = try #require(try await queue.excessDead(other.key, keeping: 1))
        #expect(try await queue.buryDead(other.key, upTo: excess) == 15)
        #expect(try await store.dead(first.key, limit: 99).count == 15)
    }

    @Test func lettersOfATimeAreReplayed() async throws {
        let webhook = try await add("a", events: 6, age: Self.day * 2)
        _ = try await queue.claim(9, lease: Self.lease, Self.horizon)
        #expect(try await queue.expire(webhook.key, "down", olderThan: Self.day, lease: Self.lease) == 6)
        // In the seconds 1001, 1002, 1003 ...
        try await pool.query("UPDATE webhook_dead SET died_at = to_timestamp(1000 + at)")
        #expect(try await store.replay(webhook.key, id: nil, died: 1007..<1008, limit: 9) == 0)
        // From the first second on, up to the last one.
        #expect(try await store.replay(webhook.key, id: nil, died: 1002..<1005, limit: 2) == 2)
        #expect(try await store.dead(webhook.key, limit: 9).map(\.id) == ["e1", "e4", "e5", "e6"])
        #expect(try await store.replay(webhook.key, id: "e5", died: 1002..<1005, limit: 9) == 0)
        #expect(try await store.replay(webhook.key, id: nil, died: 1002..<1005, limit: 9) == 1)
        #expect(try await store.replay(webhook.key, id: nil, died: Self.always, limit: 9) == 3)
    }

    @Test func aWebhookIsRemovedAlone() async throws {
        let first = try await add("a", events: 3)
        let other = try await addAnother("archive", to: first)
        #expect(try await store.rotate(other.key, to: "whsec-fedcba9876543210", overlap: .zero))
        #expect(try await store.list().map(\.webhook.secret) == ["whsec-fedcba9876543210", first.secret])
        #expect(try await store.remove(other.key))
        #expect(try await queue.webhooks() == [first.key])
        #expect(try await queue.next(first.key, limit: 9, Self.horizon).count == 3)
    }
}
