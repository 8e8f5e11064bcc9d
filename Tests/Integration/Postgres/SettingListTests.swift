import BusProtocol
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import PostgresStore

/// The server API's lists of webhooks, trunks, before-hooks and the audit trail.
@Suite struct SettingListTests {
    private let pool: PostgresPool
    private let store: RecordListStore

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        store = RecordListStore(pool: pool)
        for name in ["a", "b", "c"] {
            try await AppStore(pool: pool).create(
                id: try AppID(name), certificate: "secret-of-app", tokenRequired: true)
        }
    }

    private func records(_ list: ListRecords) async throws -> (records: [JSONValue], next: String?) {
        let page = try await store.page(list)
        guard case .array(let records) = try JSONValue.parse(page.records.utf8) else { return ([], nil) }
        #expect(!page.records.contains("secret"), "\(page.records)")
        return (records, page.next)
    }

    /// The values of a member, read page by page of one record.
    private func walk(_ list: ListRecords, _ member: String) async throws -> [String] {
        var (list, values) = (list, [String]())
        list.limit = 1
        while true {
            let page = try await records(list)
            values += page.records.compactMap { $0[member]?.string }
            guard let next = page.next, values.count < 100 else { return values }
            list.after = next
        }
    }

    private func setWebhook(_ app: String, _ name: String = "default") async throws {
        let url = try #require(WebhookURL("https://\(app).example.com/hook?secret=query"))
        let key = WebhookKey(app: try AppID(app), name: try #require(WebhookName(name)))
        #expect(try await WebhookStore(pool: pool).set(Webhook(key, url: url, secret: "secret-of-the-hook")))
    }

    @Test func allWebhooksOfAnAppAreListed() async throws {
        try await pool.query("INSERT INTO apps (id, certificate, token_required) VALUES ('a/b', '', false)")
        for (app, name) in [("b", "default"), ("a", "push"), ("a/b", "x"), ("a", "archive"), ("a/b", "default")] {
            try await setWebhook(app, name)
        }
        #expect(try await walk(ListRecords(.webhooks, limit: 1), "app") == ["a", "a", "a/b", "a/b", "b"])
        #expect(
            try await walk(ListRecords(.webhooks, limit: 1), "name") == ["archive", "push", "default", "x", "default"])
        let own = try await records(ListRecords(.webhooks, app: AppID("a"), limit: 16))
        #expect(own.records.map { $0["name"]?.string } == ["archive", "push"] && own.next == nil)
        // The one that has the standard name.
        #expect(try await records(ListRecords(.webhook, app: AppID("a"), limit: 1)).records.isEmpty)
        let standard = try await records(ListRecords(.webhook, app: AppID("a/b"), limit: 1)).records
        #expect(standard.map { $0["name"]?.string } == ["default"])
        // Only what waits for itself is counted.
        for name in ["x", "default"] {
            try await pool.query(
                """
                INSERT INTO webhook_events (app, webhook, at, id, kind, body)
                SELECT 'a/b', $1, i, 'e' || i, 'join', '{}' FROM generate_series(1, 3) i WHERE $1 = 'x' OR i = 1
                """, [.text(name)])
        }
        let counted = try await records(ListRecords(.webhooks, app: AppID("a/b"), limit: 16)).records
        #expect(counted.map { $0["waiting"]?.integer } == [1, 3])
    }

    @Test func webhooksWithWhatWaits() async throws {
        try await setWebhook("b")
        try await setWebhook("a")
        #expect(try await walk(ListRecords(.webhooks, limit: 1), "app") == ["a", "b"])
        let quiet = try #require(try await records(ListRecords(.webhooks, app: AppID("a"), limit: 1)).records.first)
        #expect(
            try quiet
                == JSONValue.parse(
                    #"""
                    {"app":"a","name":"default","url":"https://a.example.com/hook","kinds":["call","channel_created","channel_destroyed","join","leave","offline","online"],
                    "waiting":0,"oldestSeconds":null,"dead":0,"failures":0,"failingSince":null,"lastError":null,"deliveredAt":null}
                    """#.utf8))
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
            SELECT 'b', i, 'e' || i, 'join', '{}', now() - make_interval(secs => i) FROM generate_series(1, 9) i
            """)
        try await pool.query(
            """
            INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
            SELECT 'b', i, 'd' || i, 'join', '{}', now(), 'no' FROM generate_series(1, 3) i
            """)
        try await pool.query(
            """
            UPDATE webhooks SET attempts = 4, last_error = 'answered 500', failing_since = to_timestamp(1790000000.9),
                delivered_at = to_timestamp(1780000000) WHERE app = 'b'
            """)
        let failing = try await records(ListRecords(.webhooks, limit: 9)).records
        #expect(failing.count == 2 && failing[0] == quiet)
        func number(_ name: String) -> Int64? { failing[1][name]?.integer }
        #expect((number("waiting"), number("dead"), number("failures")) == (9, 3, 4))
        #expect((9...60).contains(number("oldestSeconds") ?? 0))
        #expect((number("failingSince"), number("deliveredAt")) == (1_790_000_000, 1_780_000_000))
        #expect(failing[1]["lastError"]?.string == "answered 500")
        #expect(try await records(ListRecords(.webhooks, app: AppID("c"), limit: 1)).records.isEmpty)
    }

    /// Up to a million events of each app may wait: a page does not count them all.
    @Test func noMoreThanTheBoundIsCounted() async throws {
        try await setWebhook("a")
        let count = Int64(RecordListStore.countedEvents + 1)
        for (table, columns, values) in [
            ("webhook_events", "", ""), ("webhook_dead", ", queued_at, error", ", now(), 'no'"),
        ] {
            try await pool.query(
                """
                INSERT INTO \(table) (app, at, id, kind, body\(columns))
                SELECT 'a', i, i::text, 'join', '{}'\(values) FROM generate_series(1, $1::bigint) i
                """, [.int(count)])
        }
        let found = try #require(try await records(ListRecords(.webhooks, limit: 1)).records.first)
        #expect(found["waiting"]?.integer == count - 1 && found["dead"]?.integer == count - 1)
    }

    @Test func trunksWithoutUsersAndPasswords() async throws {
        var trunk = SIPTrunk(app: try AppID("b"), host: "sip.example.com", transport: .tls)
        (trunk.authUser, trunk.secret, trunk.register) = ("secret-user", "secret-word", true)
        try await TrunkStore(pool: pool).set(trunk)
        try await TrunkStore(pool: pool).set(SIPTrunk(app: try AppID("a"), host: "192.0.2.1"))
        #expect(try await walk(ListRecords(.trunks, limit: 1), "host") == ["192.0.2.1", "sip.example.com"])
        let found = try await records(ListRecords(.trunks, app: AppID("b"), limit: 1)).records
        let set = try #require(found.first?["updatedAt"]?.integer)
        #expect(set > 1_700_000_000 && found.count == 1)
        #expect(
            try found[0]
                == JSONValue.parse(
                    #"""
                    {"app":"b","host":"sip.example.com","port":5061,"transport":"tls","register":true,"registrations":[],
                    "srtp":"off","updatedAt":\#(set)}
                    """#.utf8))
        #expect(try await records(ListRecords(.trunks, app: AppID("c"), limit: 1)).records.isEmpty)
    }

    /// Processes that were killed have left theirs for up to a day.
    @Test func noMoreRegistrationsThanTheBoundAreListed() async throws {
        var trunk = SIPTrunk(app: try AppID("b"), host: "192.0.2.1")
        (trunk.authUser, trunk.secret, trunk.register) = ("u", "s", true)
        try await TrunkStore(pool: pool).set(trunk)
        try await pool.query(
            """
            INSERT INTO sip_registrations (app, bridge, state, since, ends_at)
            SELECT 'b', 'bridge' || i, 'registered', to_timestamp(1700000000.9), to_timestamp(3000000000.9)
            FROM generate_series(1, $1::bigint) i
            """, [.int(Int64(RegistrationStore.listed + 1))])
        let found = try await records(ListRecords(.trunks, app: AppID("b"), limit: 1)).records
        guard case .array(let listed)? = found.first?["registrations"] else {
            Issue.record("\(found)")
            return
        }
        #expect(listed.count == RegistrationStore.listed)
        #expect(
            try listed.first
                == JSONValue.parse(
                    #"{"bridge":"bridge1","state":"registered","status":null,"since":1700000000,"until":3000000000}"#
                        .utf8))
    }

    @Test func hooksWithoutTheirSecrets() async throws {
        for name in ["b", "a"] {
            let url = try #require(WebhookURL("https://\(name).example.com/ask?secret=query"))
            var hook = BeforeHook(url: url, secret: "secret-of-the-hook", points: HookPoints([.login, .send]))
            (hook.deadline, hook.failsOpen, hook.refusesBusy, hook.requests) = (300, true, name == "a", 9)
            let isSet = try await BeforeHookStore(pool: pool).set(hook, of: AppID(name))
            #expect(isSet)
        }
        #expect(try await walk(ListRecords(.hooks, limit: 1), "app") == ["a", "b"])
        let found = try await records(ListRecords(.hooks, app: AppID("b"), limit: 1)).records
        let set = try #require(found.first?["updatedAt"]?.integer)
        #expect(set > 1_700_000_000 && found.count == 1)
        #expect(
            try found[0]
                == JSONValue.parse(
                    #"""
                    {"app":"b","url":"https://b.example.com/ask","on":["login","send"],"deadline":300,"failOpen":true,
                    "refuseBusy":false,"requests":9,"updatedAt":\#(set)}
                    """#.utf8))
        #expect(try await records(ListRecords(.hooks, app: AppID("c"), limit: 1)).records.isEmpty)
    }

    @Test func theTrailIsReadPageByPage() async throws {
        #expect(try await walk(ListRecords(.audit, limit: 1), "subject") == ["c", "b", "a"])
        #expect(try await walk(ListRecords(.audit, app: AppID("b"), limit: 1), "subject") == ["b"])
        _ = try await AppStore(pool: pool).remove(try AppID("b"))
        #expect(try await walk(ListRecords(.audit, app: AppID("b"), limit: 1), "act") == ["app.remove", "app.create"])
    }
}
