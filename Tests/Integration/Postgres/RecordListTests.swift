import BusProtocol
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import PostgresStore

/// The server API's lists: each page begins where the one before ended.
@Suite struct RecordListTests {
    /// All names of a list, read page by page, and the number of pages.
    private static func names(
        _ list: ListRecords, of member: String, in store: RecordListStore
    ) async throws -> (names: [String], pages: Int) {
        var (list, names, pages) = (list, [String](), 0)
        while true {
            let page = try await store.page(list)
            pages += 1
            guard case .array(let records) = try JSONValue.parse(page.records.utf8) else { break }
            names += records.compactMap { $0[member]?.string }
            guard let next = page.next else { break }
            try #require(pages < 100)
            list.after = next
        }
        return (names, pages)
    }

    private static func session(
        _ app: AppID, _ account: String, present: Bool = true, detached: Bool = false
    ) throws -> PresenceMirrorRow {
        var row = PresenceMirrorRow(
            of: Actor(user: UserKey(app: app, account: try Account(account)), uid: 7, session: SessionID("s")),
            version: 1, gateway: GatewayID("g1"), device: "\"web\"", since: RedisTime(milliseconds: 1_790_000_000_900))
        (row.present, row.detached) = (present, detached)
        return row
    }

    @Test func usersArePagedByAccountAndPrefix() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (app, store) = (try AppID("a"), RecordListStore(pool: pool))
        let accounts = ["a", "b", "b/1", "b\u{D7FF}", "b\u{E000}", "c", "ü", "日"]
        try await MirrorStore(pool: pool).sessions(
            accounts.map { try Self.session(app, $0, detached: $0 == "c") }
                + [try Self.session(app, "gone", present: false), try Self.session(try AppID("b"), "other")])
        _ = try await UserStore(pool: pool).logins(
            of: try (accounts + ["away"]).map { UserKey(app: app, account: try Account($0)) })
        for limit in 1...9 {
            let online = try await Self.names(ListRecords(.online, app: app, limit: limit), of: "account", in: store)
            #expect(online.names == accounts)
            #expect(online.pages == (accounts.count + limit - 1) / limit)
        }
        let all = try await Self.names(ListRecords(.users, app: app, limit: 4), of: "account", in: store)
        #expect(all.names == ["a", "away"] + accounts.dropFirst())
        for (prefix, found) in [
            ("b", ["b", "b/1", "b\u{D7FF}", "b\u{E000}"]), ("b\u{D7FF}", ["b\u{D7FF}"]), ("ü", ["ü"]), ("x", []),
            ("\u{10FFFF}", []),
        ] {
            let named = try await Self.names(
                ListRecords(.online, app: app, prefix: prefix, limit: 2), of: "account", in: store)
            #expect(named.names == found, "\(prefix)")
        }
        let page = try await store.page(ListRecords(.online, app: app, prefix: "c", limit: 1))
        #expect(
            try JSONValue.parse(page.records.utf8)
                == JSONValue.parse(
                    #"[{"account":"c","uid":7,"state":"detached","gateway":"g1","device":"\"web\"","since":1790000000}]"#
                        .utf8
                ))
        let away = try await store.page(ListRecords(.users, app: app, prefix: "aw", limit: 1)).records
        #expect(away.contains("\"offline\"") && away.contains("\"gateway\" : null"))
    }

    @Test func channelsAndMembers() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (app, store) = (try AppID("a"), RecordListStore(pool: pool))
        let rows = try ["one", "two"].flatMap { channel in
            try ["x", "y", "z"].map { account in
                MemberMirrorRow(
                    of: Member(account: try Account(account), uid: 3),
                    in: ChannelKey(app: app, name: try ChannelName(channel)), version: 1,
                    present: channel == "one" || account != "y", joinedAt: RedisTime(milliseconds: 5000))
            }
        }
        try await MirrorStore(pool: pool).members(rows)
        let channels = try await store.page(ListRecords(.channels, app: app, limit: 5))
        #expect(
            try JSONValue.parse(channels.records.utf8)
                == JSONValue.parse(
                    #"[{"channel":"one","members":3,"attributes":0},{"channel":"two","members":2,"attributes":0}]"#.utf8
                ))
        let members = try await Self.names(
            ListRecords(.members, app: app, channel: try ChannelName("two"), limit: 1), of: "account", in: store)
        #expect(members.names == ["x", "z"])
    }

    @Test func callsAreNewestFirst() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (app, store) = (try AppID("a"), RecordListStore(pool: pool))
        let now = try #require(
            try await pool.query("SELECT (extract(epoch FROM now()) * 1000)::bigint AS now").first?.int64("now"))
        for index in 0..<6 {
            // Two begin at the same time.
            var call = CallRecord(
                id: "c\(index)", channel: ChannelKey(app: app, name: try ChannelName("room")), caller: .init("x"),
                callee: .init("y"), startedAt: RedisTime(milliseconds: now + Int64(index / 2)))
            if index < 3 { (call.endedAt, call.endCode) = (RedisTime(milliseconds: now + 9), 0) }
            try await CallStore(pool: pool).record(call)
        }
        for limit in 1...6 {
            let calls = try await Self.names(ListRecords(.calls, app: app, limit: limit), of: "id", in: store)
            #expect(calls.names == ["c5", "c4", "c3", "c2", "c1", "c0"], "\(limit)")
            let open = try await Self.names(ListRecords(.open, app: app, limit: limit), of: "id", in: store)
            #expect(open.names == ["c5", "c4", "c3"], "\(limit)")
        }
    }

    @Test func appsAndUsage() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (apps, store) = (AppStore(pool: pool), RecordListStore(pool: pool))
        for name in ["a", "b", "c"] {
            try await apps.create(id: try AppID(name), certificate: "secret", tokenRequired: name == "a")
        }
        try await MirrorStore(pool: pool).sessions([try Self.session(try AppID("b"), "x")])
        let listed = try await Self.names(ListRecords(.apps, limit: 2), of: "app", in: store)
        #expect(listed.names == ["a", "b", "c"] && listed.pages == 2)
        let page = try await store.page(ListRecords(.apps, limit: 3))
        #expect(!page.records.contains("secret"))
        let usage = try await store.page(ListRecords(.usage, app: try AppID("b"), limit: 10_000))
        let found = try JSONValue.parse(usage.records.utf8)
        guard case .array(let records) = found, let record = records.first, case .array(let days)? = record["days"]
        else {
            Issue.record("\(usage.records)")
            return
        }
        #expect(record["online"]?.integer == 1 && days.count == 1 && days[0]["logins"]?.integer == 1)
    }

    /// What a page costs does not grow with the table.
    @Test(arguments: [ListRecords.List.online, .users, .channels])
    func pagesAreReadByAnIndex(_ list: ListRecords.List) async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let app = try AppID("a")
        try await pool.query(
            """
            INSERT INTO users (app, account, uid) SELECT 'a', 'u' || i, i FROM generate_series(1, 5000) i
            """)
        try await MirrorStore(pool: pool).sessions((1...5000).map { try Self.session(app, "u\($0)") })
        try await pool.query(
            """
            INSERT INTO channel_sizes (app, channel, members) SELECT 'a', 'u' || i, 1 FROM generate_series(1, 5000) i
            """)
        let (sql, parameters) = RecordListStore.statement(
            for: ListRecords(list, app: app, prefix: "u4", after: "u42", limit: 10))
        try await pool.query("ANALYZE")
        let plan = try await pool.query("EXPLAIN (ANALYZE, BUFFERS) " + sql, parameters)
            .map { try $0.string("QUERY PLAN") }.joined(separator: "\n")
        for table in ["presence_sessions", "users", "channel_sizes"] {
            #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
        }
        #expect(plan.contains("Index"), "\(plan)")
    }
}
