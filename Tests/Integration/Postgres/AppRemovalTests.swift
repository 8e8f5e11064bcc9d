import BusProtocol
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// The removal of an app of which much is stored.
@Suite struct AppRemovalTests {
    private static let tables = ["webhook_events", "webhook_dead", "user_bans", "users"]

    private let pool: PostgresPool

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        for app in ["large", "other"] {
            try await pool.query(
                "INSERT INTO apps (id, certificate, token_required) VALUES ($1, '', false)", [.text(app)])
            try await pool.query(
                "INSERT INTO webhooks (app, url, secret, kinds) "
                    + "VALUES ($1, 'https://a/', 'whsec-0123456789', '{join}')",
                [.text(app)])
        }
    }

    private func fill(_ app: String, events: Int, others: Int) async throws {
        let (app, events) = (PostgresParameter.text(app), PostgresParameter.int(Int64(events)))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body)
            SELECT $1, i, 'e' || i, 'join', '{}' FROM generate_series(1, $2::bigint) i
            """, [app, events])
        let others = PostgresParameter.int(Int64(others))
        try await pool.query(
            """
            INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
            SELECT $1, i, 'e' || i, 'join', '{}', now(), 'down' FROM generate_series(1, $2::bigint) i
            """, [app, others])
        try await pool.query(
            """
            INSERT INTO user_bans (app, account, until, version)
            SELECT $1, 'u' || i, now() + interval '1 day', i FROM generate_series(1, $2::bigint) i
            """, [app, others])
        try await pool.query(
            """
            INSERT INTO users (app, account, uid)
            SELECT $1, 'u' || i, nextval('user_uids') FROM generate_series(1, $2::bigint) i
            """, [app, others])
    }

    /// From now on a statement that deletes more rows than a portion fails.
    private func refuseLargeStatements() async throws {
        try await pool.query(
            """
            CREATE FUNCTION refuse_large() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT count(*) FROM gone) > \(AppStore.portion) THEN RAISE EXCEPTION 'too many at once'; END IF;
                RETURN NULL; END $$
            """)
        for table in Self.tables {
            try await pool.query(
                """
                CREATE TRIGGER small AFTER DELETE ON \(table) REFERENCING OLD TABLE AS gone
                FOR EACH STATEMENT EXECUTE FUNCTION refuse_large()
                """)
        }
    }

    private func rows(_ app: String) async throws -> [Int64] {
        var counts: [Int64] = []
        for table in Self.tables {
            let rows = try await pool.query("SELECT count(*) AS n FROM \(table) WHERE app = $1", [.text(app)])
            counts.append(try #require(try rows.first?.int64("n")))
        }
        return counts
    }

    @Test func anAppOfWhichMuchIsStoredIsRemovedInPortions() async throws {
        try await fill("large", events: 100_000, others: 2 * AppStore.portion + 1)
        try await fill("other", events: 3, others: 2)
        try await refuseLargeStatements()
        let store = AppStore(pool: pool)
        #expect(try await store.remove(try AppID("large")))
        #expect(try await rows("large") == [0, 0, 0, 0])
        #expect(try await rows("other") == [3, 2, 2, 2])
        #expect(try await store.list().map(\.id.rawValue) == ["other"])
        #expect(try await !store.remove(try AppID("large")))
    }

    /// What is gone stays gone, and the next attempt does the rest.
    @Test func aRemovalThatTakesTooLongGoesOnLater() async throws {
        try await fill("large", events: 2 * AppStore.portion, others: 2)
        let (store, app) = (AppStore(pool: pool), try AppID("large"))
        await #expect { try await store.remove(app, until: .now) } throws: { ($0 as? PostgresError)?.kind == .timeout }
        let left = try await rows("large")
        #expect(left[0] < 2 * AppStore.portion && left[3] == 2)
        #expect(try await store.find(app) != nil)
        #expect(try await store.remove(app, until: .now + .seconds(60)))
        #expect(try await rows("large") == [0, 0, 0, 0])
    }

    @Test func theAuditTrailSaysWhoHasRemovedAnApp() async throws {
        try await fill("large", events: 3, others: 2)
        try await pool.query("INSERT INTO sip_numbers (number, app, account) VALUES ('+4930', 'large', 'u1')")
        let cause = AuditCause.key("0123456789abcdef", request: "r", trace: nil, command: CommandID("c"))
        #expect(try await AppStore(pool: pool).remove(try AppID("large"), by: cause))
        let entries = try await pool.query("SELECT act, by_name FROM audit_trail WHERE act LIKE '%.remove' ORDER BY id")
        #expect(
            try entries.map { "\(try $0.string("act")) \(try $0.optionalString("by_name") ?? "")" } == [
                "webhook.remove 0123456789abcdef", "number.remove 0123456789abcdef", "app.remove 0123456789abcdef",
            ])
    }
}
