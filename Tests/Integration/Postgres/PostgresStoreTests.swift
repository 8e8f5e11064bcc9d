import BusProtocol
import ClusterState
import Logging
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

@Suite struct PostgresStoreTests {
    @Test func apps() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = AppStore(pool: pool)
        let id = try AppID(#"{a:"b"\}'"#)
        #expect(try await store.find(id) == nil)
        let app = try await store.create(id: id, certificate: "secret", tokenRequired: false)
        #expect(try await store.find(id) == app)
        #expect(app.certificate == "secret" && !app.tokenRequired && app.createdAt > 1_600_000_000_000)
        let error = await #expect(throws: PostgresError.self) {
            try await store.create(id: id, certificate: "x", tokenRequired: true)
        }
        #expect(error?.isDuplicate == true)
        try await store.create(id: AppID("B"), certificate: "x", tokenRequired: true)
        #expect(try await store.list().map(\.id.rawValue) == ["B", id.rawValue])
        #expect(try await store.rotateCertificate(id, to: "new"))
        #expect(try await store.find(id)?.certificate == "new")
        _ = try await UserStore(pool: pool).logins(of: [UserKey(app: id, account: Account("u"))])
        #expect(try await store.remove(id))
        #expect(try await !store.remove(id))
        #expect(try await !store.rotateCertificate(id, to: "x"))
        #expect(try await pool.query("SELECT FROM users").isEmpty)
        await pool.close()
    }

    @Test func limitsThatAreNotNamedStay() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = AppStore(pool: pool)
        let id = try AppID("limited")
        var limits = AppLimits()
        limits.actsPerSecond = 7
        let made = try await store.create(id: id, certificate: "x", tokenRequired: true, limits: limits)
        #expect(made.limits == limits)
        let changed = try await store.changeLimits(of: id) {
            $0.messagesPerSecond = 9
            $0.specialChannelsOpen = false
            $0.streamedMessages = .withText
        }
        limits.messagesPerSecond = 9
        limits.specialChannelsOpen = false
        limits.streamedMessages = .withText
        #expect(changed?.limits == limits)
        #expect(try await store.find(id)?.limits == limits)
        #expect(try await store.changeLimits(of: AppID("none")) { _ in } == nil)
        let settings = try #require(try await store.settings(of: id))
        #expect(settings.messageEvents == MessageEvents(webhook: nil, stream: .withText))
        #expect(settings.webhookMessages == nil)
        // Settings that were written by hand and are invalid are replaced by the defaults.
        try await pool.query(
            #"UPDATE apps SET limits = '{"actsPerSecond":"many","specialChannels":1,"messageEvents":true}'"#)
        #expect(try await store.find(id)?.limits == AppLimits())
        await pool.close()
    }

    @Test func uidsAreStableAndUnique() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 8)
        let store = UserStore(pool: pool)
        let users = try ["one", "two"].flatMap { app in
            try (0..<100).map { UserKey(app: try AppID(app), account: try Account("user\($0)")) }
        }
        let answers = try await withThrowingTaskGroup(of: [(UserKey, UserLogin)].self) { group in
            for _ in 0..<16 {
                let some = Array(users.shuffled().prefix(120))
                let asked = some + some.prefix(3)
                group.addTask { Array(zip(asked, try await store.logins(of: asked))) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let logins = try await store.logins(of: users)
        let uids = Dictionary(uniqueKeysWithValues: zip(users, logins.map(\.uid)))
        #expect(Set(uids.values).count == 200)
        #expect(uids.values.allSatisfy { $0 > 0 })
        for (user, login) in answers { #expect(uids[user] == login.uid) }
        // Seeing a known user again must not use up a number of the sequence.
        let before = try await pool.query("SELECT last_value FROM user_uids").first?.int64("last_value")
        #expect(try await store.logins(of: users) == logins)
        #expect(try await pool.query("SELECT last_value FROM user_uids").first?.int64("last_value") == before)
        #expect(try await store.logins(of: []).isEmpty)
        await pool.close()
    }

    @Test func aUserIsNotedOncePerDay() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = UserStore(pool: pool)
        let user = UserKey(app: try AppID("app"), account: try Account("user"))
        let uid = try await store.logins(of: [user])[0].uid
        for (age, written) in [("23 hours", false), ("25 hours", true)] {
            try await pool.query("UPDATE users SET last_seen = now() - interval '\(age)'")
            #expect(try await store.logins(of: [user])[0].uid == uid)
            let row = try await pool.query("SELECT last_seen > now() - interval '1 hour' AS new FROM users").first
            #expect(try row?.bool("new") == written)
        }
        await pool.close()
    }

    /// A call that waits for a new user of another call must not hold the lock of a known user that the other call
    /// needs: a deadlock.
    @Test func callsThatNoteAndAddUsersDoNotWaitInCircles() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        func open(_ connections: Int) throws -> PostgresPool {
            PostgresPool(
                configuration: try PostgresConfiguration(url: url), connections: connections,
                logger: Logger(label: "test"))
        }
        let (pool, other) = (try open(3), try open(1))
        _ = try await Migrations(pool: other, level: ClusterLevel.current).apply()
        let store = UserStore(pool: pool)
        let users = try ["a", "b", "c"].map { UserKey(app: try AppID("app"), account: try Account($0)) }
        func blocked(_ count: Int64) async throws {
            try await waitUntil("\(count) calls that wait") {
                let row = try await other.query(
                    """
                    SELECT count(*) AS n FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND datname = current_database()
                    """)
                let found = try row.first?.int64("n")
                return found == count ? nil : "\(found ?? -1)"
            }
        }
        _ = try await store.logins(of: [users[2]])
        // Only users who were not seen for a day are noted.
        let age = "UPDATE users SET last_seen = now() - interval '2 days'"
        try await pool.query(age)
        _ = try await other.query("BEGIN")
        _ = try await UserStore(pool: other).logins(of: [users[0]])
        async let all = store.logins(of: users)
        try await blocked(1)
        _ = try await store.logins(of: [users[1]])
        try await pool.query("\(age) WHERE account = 'b'")
        async let some = store.logins(of: [users[1], users[2]])
        try await letPass(.milliseconds(200), "the second question must be asked while the first one waits")
        _ = try await other.query("COMMIT")
        let (first, second) = try await (all, some)
        #expect(first.count == 3 && Array(first.dropFirst()) == second)
        await other.close()
        await pool.close()
    }

    @Test func callsMergeInAnyOrder() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = CallStore(pool: pool)
        var call = CallRecord(
            id: "call1", channel: ChannelKey(app: try AppID("app"), name: try ChannelName("room")),
            caller: CallRecord.Party("a"), callee: CallRecord.Party("b"),
            startedAt: RedisTime(milliseconds: 1_700_000_000_123))
        var ended = call
        ended.acceptedAt = RedisTime(milliseconds: 1_700_000_005_000)
        ended.endedAt = RedisTime(milliseconds: 1_700_000_015_500)
        ended.endCode = 0
        try await store.record(ended)
        call.acknowledgedAt = RedisTime(milliseconds: 1_700_000_001_000)
        try await store.record(call)
        try await store.record(call)
        let rows = try await pool.query(
            """
            SELECT state, end_code, talk_time::text AS talk, (extract(epoch FROM started_at) * 1000)::bigint AS started,
                (extract(epoch FROM acknowledged_at) * 1000)::bigint AS acknowledged FROM call_log
            """)
        #expect(rows.count == 1)
        #expect(try rows[0].string("state") == "ended")
        #expect(try rows[0].int64("end_code") == 0)
        #expect(try rows[0].string("talk") == "00:00:10.5")
        #expect(try rows[0].int64("started") == 1_700_000_000_123)
        #expect(try rows[0].int64("acknowledged") == 1_700_000_001_000)
        await pool.close()
    }

    /// A row of the user `user` of the app `app`, with the third change of whose session it was detached.
    private static func session(
        _ version: Int64, present: Bool = true, gateway: String = "g"
    ) throws -> PresenceMirrorRow {
        let user = UserKey(app: try AppID("app"), account: try Account("user"))
        var row = PresenceMirrorRow(
            of: Actor(user: user, uid: 7, session: SessionID("s\(version)")), version: version,
            gateway: GatewayID(gateway), device: "web\0sdk", since: RedisTime(milliseconds: 1_700_000_000_000))
        row.present = present
        row.detached = version == 3
        return row
    }

    /// A row of a member of the channel `room`.
    private static func member(_ account: String, _ version: Int64, present: Bool = true) throws -> MemberMirrorRow {
        MemberMirrorRow(
            of: Member(account: try Account(account), uid: 7),
            in: ChannelKey(app: try AppID("app"), name: try ChannelName("room")), version: version, present: present,
            joinedAt: RedisTime(milliseconds: 1_700_000_000_000))
    }

    @Test func mirrorsSkipStaleRows() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 4)
        let store = MirrorStore(pool: pool)
        try await AppStore(pool: pool).create(id: try AppID("app"), certificate: "x", tokenRequired: true)
        try await store.sessions([Self.session(1), Self.session(3), Self.session(2)])
        try await store.sessions([Self.session(2, gateway: "stale")])
        let online = try await pool.query("SELECT * FROM online_users")
        #expect(online.count == 1)
        #expect(try online[0].string("session") == "s3")
        #expect(try online[0].string("state") == "detached")
        #expect(try online[0].string("device") == "web\u{FFFD}sdk")

        try await store.members([
            Self.member("user", 1), Self.member("b", 2), Self.member("b", 3, present: false),
        ])
        #expect(try await pool.query("SELECT members FROM channels").first?.int64("members") == 1)
        #expect(try await pool.query("SELECT gateway FROM channel_member_list").first?.string("gateway") == "g")
        let usage = try #require(try await pool.query("SELECT * FROM app_usage").first)
        #expect(try usage.int64("users_online") == 1 && usage.int64("members") == 1)

        try await store.sessions([Self.session(4, present: false)])
        #expect(try await pool.query("SELECT FROM online_users").isEmpty)
        #expect(try await store.prune() == 0)
        for table in ["presence_sessions", "channel_members"] {
            try await pool.query("UPDATE \(table) SET updated_at = now() - interval '2 hours'")
        }
        #expect(try await store.prune() == 2)
        await pool.close()
    }

    @Test func concurrentMirrorsDoNotDeadlock() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 8)
        let store = MirrorStore(pool: pool)
        let channel = ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
        let accounts = try (0..<100).map { try Account("user\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for version in 1...40 {
                let rows = accounts.shuffled().map {
                    MemberMirrorRow(
                        of: Member(account: $0, uid: 1), in: channel, version: Int64(version), present: true,
                        joinedAt: RedisTime(milliseconds: 0))
                }
                group.addTask { try await store.members(rows) }
            }
            try await group.waitForAll()
        }
        let rows = try await pool.query("SELECT count(*) AS n, min(version) AS v FROM channel_members")
        #expect(try rows[0].int64("n") == 100)
        #expect(try rows[0].int64("v") == 40)
        await pool.close()
    }
}
