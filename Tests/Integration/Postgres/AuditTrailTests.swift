import BusProtocol
import Logging
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import PostgresStore

/// The audit trail: who did what to whom.
@Suite struct AuditTrailTests {
    private let pool: PostgresPool
    private let app: AppID
    private let user: UserKey

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 2)
        app = try AppID("app")
        user = UserKey(app: app, account: try Account("an'na"))
        try await AppStore(pool: pool).create(id: app, certificate: "a-certificate-of-it", tokenRequired: true)
    }

    private static func cause(_ command: String) -> AuditCause {
        .key("0123456789abcdef", request: "r-1", trace: "t-1", command: CommandID(command))
    }

    /// The entries since the app was made, the earliest first: act, subject, who.
    private func entries() async throws -> [String] {
        try await pool.query(
            """
            SELECT act || ' ' || coalesce(subject, '-') || ' ' || by_kind || ' ' || coalesce(by_name, '-') AS line
            FROM audit_trail WHERE act <> 'app.create' ORDER BY at, id
            """
        ).map { try $0.string("line") }
    }

    private func last(_ column: String) async throws -> String? {
        try await pool.query("SELECT \(column)::text AS value FROM audit_trail ORDER BY at DESC, id DESC LIMIT 1")[0]
            .optionalString("value")
    }

    @Test func whatKeysDoIsThereWithTheRequest() async throws {
        let (bans, audit) = (BanStore(pool: pool), AuditStore(pool: pool))
        let who = "key 0123456789abcdef"
        // Each of the three as the first row of the user, and as a change of it.
        for name in ["a", "b", "c"] {
            let user = UserKey(app: app, account: try Account(name))
            _ = name == "a" ? try await bans.set(user, until: 4_000_000_000, reason: "no", by: Self.cause("1")) : nil
            _ = name == "b" ? try await bans.lift(user, by: Self.cause("2")) : nil
            _ = try await bans.revokeTokens(of: user, until: 4_000_000_001, by: Self.cause("3"))
            _ = try await bans.set(user, until: 4_000_000_002, reason: "no", by: Self.cause("4"))
            _ = try await bans.lift(user, by: Self.cause("5"))
        }
        let rest = ["revoke", "ban", "unban"]
        let acts = [("a", ["ban"] + rest), ("b", ["unban"] + rest), ("c", rest)]
        #expect(try await entries() == acts.flatMap { name, acts in acts.map { "user.\($0) \(name) \(who)" } })
        #expect(try await last("request_id || trace_id || command_id") == "r-1t-15")
        _ = try await bans.set(user, until: 4_000_000_002, reason: "a \"reason\"", by: Self.cause("6"))
        #expect(try await last("details ->> 'reason'") == "a \"reason\"")
        #expect(try await last("details ->> 'until'") == "4000000002")
        try await audit.note(.disconnect, to: user, by: Self.cause("7"))
        try await audit.note(.mint(seconds: 60), to: user, by: Self.cause("8"))
        #expect(try await last("details") == #"{"seconds": 60}"#)
        #expect(
            try await entries().suffix(3)
                == ["user.ban an'na \(who)", "user.disconnect an'na \(who)", "token.mint an'na \(who)"])
        // What is removed when its time is over was nobody's act.
        let before = try await entries().count
        try await pool.query(
            "UPDATE user_bans SET until = to_timestamp(5), tokens_until = to_timestamp(5), created_at = now()")
        let noise = try await entries().count
        #expect(try await bans.prune(limit: 100) == 4)
        #expect(try await entries().count == noise)
        #expect(noise > before)
        await pool.close()
    }

    @Test func deletedMessagesAndEndedCallsAreThereByTheirIDs() async throws {
        let audit = AuditStore(pool: pool)
        let who = "an'na key 0123456789abcdef"
        try await audit.note(.emptyMailbox, to: user, by: Self.cause("1"))
        #expect(try await last("details") == "{}")
        try await audit.note(.recall(version: 9_007_199_254_740_991), to: user, by: Self.cause("2"))
        #expect(try await last("details") == #"{"version": 9007199254740991}"#)
        try await audit.note(.endCall("call.1", in: try ChannelName("a room")), to: user, by: Self.cause("3"))
        #expect(try await last("details ->> 'call'") == "call.1")
        #expect(try await last("details ->> 'channel'") == "a room")
        #expect(try await entries() == ["mailbox.empty \(who)", "message.recall \(who)", "call.end \(who)"])
        await pool.close()
    }

    /// A statement of a process that says nothing is the database user's; what a statement says holds for it only.
    @Test func aCauseHoldsForItsStatement() async throws {
        let pool = PostgresPool(configuration: pool.configuration, connections: 1, logger: Logger(label: "test"))
        let bans = BanStore(pool: pool)
        _ = try await bans.set(user, until: 4_000_000_000, reason: "", by: Self.cause("1"))
        _ = try await bans.lift(user)
        #expect(try await entries().map { $0.split(separator: " ")[2] } == ["key", "database"])
        let owner = try await pool.query("SELECT session_user AS name")[0].string("name")
        #expect(try await last("by_name") == owner)
        // A gateway of the release before does not say which key it was.
        _ = try await bans.lift(user, by: .key(nil, request: nil, trace: nil, command: CommandID("c")))
        #expect(try await entries().last == "user.unban an'na key -")
        await pool.close()
        var configuration = pool.configuration
        configuration.cause = .control(user: #"o'neil\"#)
        let control = PostgresPool(configuration: configuration, connections: 1, logger: Logger(label: "test"))
        _ = try await BanStore(pool: control).lift(user)
        #expect(try await entries().last == #"user.unban an'na heliographctl o'neil\"#)
        await control.close()
    }

    @Test func changesOfAppsSayWhatChanged() async throws {
        let apps = AppStore(pool: pool)
        _ = try await apps.changeLimits(of: app) { $0.messagesPerSecond = 77 }
        #expect(try await last("details ->> 'changed'") == #"["limits"]"#)
        #expect(try await last("details -> 'limits' ->> 'messagesPerSecond'") == "77")
        #expect(try await last("details ->> 'limits_before'") == "{}")
        _ = try await apps.rotateCertificate(app, to: "another-certificate")
        #expect(try await last("details ->> 'changed'") == #"["certificate"]"#)
        #expect(try await last("details").map { !$0.contains("another-certificate") } == true)
        await pool.close()
    }

    @Test func whatBelongsToAnAppIsThereWithoutSecrets() async throws {
        let (apps, keys, hooks) = (AppStore(pool: pool), APIKeyStore(pool: pool), BeforeHookStore(pool: pool))
        let key = APIKey(
            id: "fedcba9876543210", digest: String(repeating: "a", count: 64), app: nil, scopes: APIScopes([.read]),
            requestsPerSecond: 5)
        _ = try await keys.create(key, note: "shop")
        _ = try await keys.revoke(key.id)
        _ = try await keys.revoke(key.id)
        var trunk = SIPTrunk(app: app, host: "sip.example.org", port: 5060, transport: .udp)
        (trunk.authUser, trunk.secret) = ("a-secret-user", "a-secret-word")
        try await TrunkStore(pool: pool).set(trunk)
        trunk.secret = "a-secret-changed"
        try await TrunkStore(pool: pool).set(trunk)
        #expect(try await last("details ->> 'changed'") == #"["secret"]"#)
        _ = try await NumberStore(pool: pool).set("+49301234", to: user)
        _ = try await NumberStore(pool: pool).remove("+49301234")
        let url = try #require(WebhookURL("https://example.org/hook?a-secret-query"))
        _ = try await WebhookStore(pool: pool).set(Webhook(WebhookKey(app: app), url: url, secret: "a-secret-of-hooks"))
        #expect(try await last("details ->> 'url'") == "https://example.org/hook")
        _ = try await hooks.set(
            BeforeHook(url: url, secret: "a-secret-of-hooks", points: HookPoints([.login])), of: app)
        _ = try await Histories(pool: pool).keep("audit", days: 500)
        _ = try await hooks.remove(app)
        _ = try await apps.remove(app)
        let made = try await entries().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(
            made == [
                "key.create fedcba9876543210", "key.revoke fedcba9876543210",
                "trunk.set app", "trunk.set app", "number.set +49301234", "number.remove +49301234", "webhook.set app",
                "hook.set app", "retention.set audit", "hook.remove app", "webhook.remove app", "app.remove app",
            ])
        let text = try await pool.query("SELECT string_agg(to_jsonb(t)::text, ' ') AS all FROM audit_trail t")[0]
            .string("all")
        for secret in ["a-secret", "certificate-of-it", "aaaaaaaa"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        await pool.close()
    }

    @Test func theTrailIsReadPageByPage() async throws {
        let (audit, store) = (AuditStore(pool: pool), RecordListStore(pool: pool))
        for number in 1...5 { try await audit.note(.mint(seconds: Int64(number)), to: user) }
        // Of the same time: their ids order them.
        try await pool.query("UPDATE audit_entries SET at = '2026-11-28 12:00 UTC' WHERE act = 'token.mint'")
        try await pool.query("SELECT note_act('app.change', 'other', 'other', '{}', NULL)")
        for limit in 1...6 {
            var (list, seen) = (ListRecords(.audit, app: app, limit: limit), [String]())
            while true {
                let page = try await store.page(list)
                guard case .array(let records) = try JSONValue.parse(page.records.utf8) else { break }
                seen += records.map { "\($0["act"]?.string ?? "") \($0["details"]?["seconds"]?.integer ?? 0)" }
                guard let next = page.next else { break }
                list.after = next
                try #require(seen.count < 10)
            }
            #expect(seen.filter { $0.hasPrefix("token") } == [5, 4, 3, 2, 1].map { "token.mint \($0)" })
            #expect(seen.count == 6)
        }
        guard
            case .array(let all) = try JSONValue.parse(try await store.page(ListRecords(.audit, limit: 9)).records.utf8)
        else { return }
        #expect(all.contains { $0["app"]?.string == "other" })
        await pool.close()
    }

    @Test func monthsAreMadeAndRemovedAsAWhole() async throws {
        let histories = Histories(pool: pool)
        let audit = try #require(try await histories.list().first { $0.name == "audit" })
        #expect((audit.keptDays, audit.dividedBy) == (400, "month"))
        for row in try await pool.query("SELECT name FROM history_parts WHERE history = 'audit' AND since IS NOT NULL")
        {
            #expect(
                try await pool.query("SELECT drop_audit_month($1) AS d", [.text(try row.string("name"))])[0].bool("d"))
        }
        // It is kept in the table of the rest until there is a month.
        try await AuditStore(pool: pool).note(.disconnect, to: user)
        #expect(try await pool.query("SELECT FROM audit_entries_rest").count == 1)
        #expect(try await histories.makeDays() >= 1)
        #expect(try await histories.makeDays() == 0)
        #expect(try await pool.query("SELECT FROM audit_entries_rest").isEmpty)
        #expect(try await entries().count == 1)
        try await pool.query(
            """
            DO $$ BEGIN EXECUTE format('CREATE TABLE audit_entries_2020_01 PARTITION OF audit_entries '
                'FOR VALUES FROM (%L) TO (%L)', '2020-01-01 UTC'::timestamptz, '2020-02-01 UTC'::timestamptz); END $$
            """)
        let past = try await histories.past()
        #expect(past.map(\.name) == ["audit_entries_2020_01"])
        #expect(try await histories.remove(past[0]))
        #expect(try await !histories.remove(past[0]))
        for name in ["audit_entries_rest", "users"] {
            #expect(try await !pool.query("SELECT drop_audit_month($1) AS d", [.text(name)])[0].bool("d"))
        }
        await #expect(throws: PostgresError.self) { try await histories.keep("audit", days: 0) }
        await pool.close()
    }
}
