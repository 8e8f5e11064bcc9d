import BusProtocol
import Logging
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// The numbers that views show are those that counting would give.
@Suite struct TallyTests {
    private static let app = "app"

    private static func session(
        _ account: Int, _ version: Int64, gateway: String = "g1", present: Bool = true
    ) throws -> PresenceMirrorRow {
        let user = UserKey(app: try AppID(app), account: try Account("user\(account)"))
        let actor = Actor(user: user, uid: UInt32(account), session: SessionID("s\(version)"))
        var row = PresenceMirrorRow(
            of: actor, version: version, gateway: GatewayID(gateway), device: "web",
            since: RedisTime(milliseconds: 1_790_000_000_000))
        row.present = present
        return row
    }

    private static func member(
        _ account: Int, of channel: String, _ version: Int64, present: Bool = true
    ) throws -> MemberMirrorRow {
        MemberMirrorRow(
            of: Member(account: try Account("user\(account)"), uid: UInt32(account)),
            in: ChannelKey(app: try AppID(app), name: try ChannelName(channel)), version: version, present: present,
            joinedAt: RedisTime(milliseconds: 1_790_000_000_000))
    }

    /// Whether the kept numbers are what counting gives.
    private static func differences(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            (SELECT 'channel ' || app || channel || members AS line FROM (
                SELECT app, channel, members FROM channel_sizes WHERE members > 0 EXCEPT
                SELECT app, channel, count(*) FROM channel_members WHERE present GROUP BY 1, 2) c)
            UNION ALL (SELECT 'lacks ' || app || channel || members FROM (
                SELECT app, channel, count(*) AS members FROM channel_members WHERE present GROUP BY 1, 2 EXCEPT
                SELECT app, channel, members FROM channel_sizes) c)
            UNION ALL (SELECT 'app ' || app || channels || members FROM (
                SELECT app, channels, members FROM app_channels WHERE channels > 0 OR members > 0 EXCEPT
                SELECT app, count(DISTINCT channel), count(*) FROM channel_members WHERE present GROUP BY 1) c)
            UNION ALL (SELECT 'gateway ' || app || gateway || sessions FROM (
                SELECT app, gateway, sessions FROM gateway_sessions EXCEPT
                SELECT app, gateway, count(*) FROM presence_sessions WHERE present GROUP BY 1, 2) c)
            UNION ALL (SELECT 'no gateway ' || app || gateway || sessions FROM (
                SELECT app, gateway, count(*) AS sessions FROM presence_sessions WHERE present GROUP BY 1, 2 EXCEPT
                SELECT app, gateway, sessions FROM gateway_sessions) c)
            """
        ).map { try $0.string("line") }
    }

    @Test func sessionsAreCountedByGatewayAndDay() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = MirrorStore(pool: pool)
        try await store.sessions((1...10).map { try Self.session($0, 1) })
        // Five move on to another gateway with the same session, two log in again, three
        // go, and what is old is skipped.
        try await store.sessions(
            (1...5).map { try Self.session($0, 2, gateway: "g2") }
                + (6...8).map { try Self.session($0, 3, present: false) })
        try await store.sessions((9...12).map { try Self.session($0, 4) } + [try Self.session(1, 1)])
        let usage = try await pool.query(
            "SELECT gateway || ' ' || sessions AS line FROM gateway_usage ORDER BY gateway")
        #expect(try usage.map { try $0.string("line") } == ["g1 4", "g2 5"])
        #expect(try await Self.differences(pool) == [])
        // Each session is a login: the first ten; five others, and three that were over when
        // they were written; four at last.
        let logins = try await pool.query("SELECT logins, day::text AS day FROM logins_by_day")
        #expect(logins.count == 1)
        #expect(try logins[0].int64("logins") == 10 + 5 + 3 + 4)
        #expect(try logins[0].string("day") == "2026-09-21")
        let lag = try await pool.query(
            "SELECT rows_of_hour, lag > interval '1 day' AS late FROM mirror_lag WHERE mirror = 'sessions'")
        #expect(try lag[0].int64("rows_of_hour") == 22 && lag[0].bool("late"))
        try await pool.query("DELETE FROM presence_sessions")
        #expect(try await pool.query("SELECT FROM gateway_usage").isEmpty)
        await pool.close()
    }

    /// Writes batches that touch the same channels as others' do, in another order, while channels get and lose their
    /// attributes.
    private static func write(_ store: MirrorStore, _ pool: PostgresPool, as writer: Int) async throws {
        for round in 1...20 {
            let rows = try (0..<30).map { number in
                try member(
                    (number * 7 + writer) % 40, of: "room\((number * (writer + 3)) % 8)",
                    Int64(round * 10 + writer), present: (number + round + writer) % 3 > 0)
            }
            try await store.members(rows)
            try await pool.query(
                """
                INSERT INTO channel_attribute_versions AS v (app, channel, version, attributes)
                VALUES ('app', 'room\(round % 8)', 1, \(round % 2)) ON CONFLICT (app, channel)
                DO UPDATE SET attributes = EXCLUDED.attributes
                """)
        }
    }

    @Test func membersAreCountedWhileManyWrite() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 4)
        let store = MirrorStore(pool: pool)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 { group.addTask { try await Self.write(store, pool, as: writer) } }
            try await group.waitForAll()
        }
        #expect(try await Self.differences(pool) == [])
        let listed = try await pool.query(
            """
            SELECT app, channel FROM channel_members WHERE present
            UNION SELECT app, channel FROM channel_attribute_versions WHERE attributes > 0
            EXCEPT SELECT app, channel FROM channels
            """)
        #expect(listed.isEmpty)
        #expect(
            try await pool.query("SELECT FROM channels WHERE members = 0 AND attributes = 0").isEmpty)
        try await pool.query("UPDATE channel_sizes SET members = members + 1")
        #expect(try await !Self.differences(pool).isEmpty)
        try await pool.query("SELECT recount()")
        #expect(try await Self.differences(pool) == [])
        await pool.close()
    }

    @Test func usersAreCountedAsTheyComeAndGo() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("INSERT INTO apps (id, certificate) VALUES ('app', 'c'), ('other', 'c')")
        func users() async throws -> [Int64] {
            try await pool.query("SELECT users FROM app_usage ORDER BY app").map { try $0.int64("users") }
        }
        func add(_ app: String, _ range: ClosedRange<Int>, age: String) async throws {
            try await pool.query(
                """
                INSERT INTO users (app, account, uid, first_seen)
                SELECT '\(app)', 'user' || g, g, now() - interval '\(age)' FROM generate_series(\(range.lowerBound), \(range.upperBound)) g
                """)
        }
        try await add("app", 1...100, age: "1 hour")
        try await add("other", 101...150, age: "1 hour")
        try await add("app", 151...160, age: "0")
        #expect(try await users() == [110, 50])
        // The users of the last minute are counted when they are asked for.
        try await pool.query("SELECT count_new_users(1)")
        #expect(try await pool.query("SELECT uid FROM counted_users")[0].int64("uid") == 150)
        #expect(try await users() == [110, 50])
        try await pool.query("DELETE FROM users WHERE uid IN (1, 2, 101, 155)")
        #expect(try await users() == [107, 49])
        #expect(try await AppStore(pool: pool).remove(try AppID("other")))
        #expect(try await users() == [107])
        #expect(try await pool.query("SELECT FROM app_users WHERE app = 'other'").isEmpty)
        await pool.close()
    }

    /// Batches of the mirror count them: each a bounded number, and none looks at all that are too new.
    @Test func veryManyNewUsersAreCountedInPortions() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("INSERT INTO apps (id, certificate) VALUES ('app', 'c')")
        try await pool.query(
            "INSERT INTO users (app, account, uid) SELECT 'app', 'user' || g, g FROM generate_series(1, 5000) g")
        func counted() async throws -> Int64 {
            try await pool.query("SELECT count_new_users(100) AS n")[0].int64("n")
        }
        #expect(try await counted() == 0)
        try await pool.query("UPDATE users SET first_seen = now() - interval '2 minutes' WHERE uid <= 2550")
        var portions: [Int64] = []
        for _ in 0..<5 { portions.append(try await counted()) }
        #expect(portions == [1000, 1000, 550, 0, 0])
        #expect(try await pool.query("SELECT users FROM app_users")[0].int64("users") == 2550)
        #expect(try await pool.query("SELECT users FROM app_usage")[0].int64("users") == 5000)
        await pool.close()
    }

    /// With nested loops, which a plan that was made for one row has, a batch would compare each row with each. A later
    /// migration that replaces the functions must say it again.
    @Test func rowsOfABatchAreNotComparedEachWithEach() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let settings = try await pool.query(
            "SELECT proconfig::text AS c FROM pg_proc WHERE proname IN ('tally_sessions', 'tally_members')")
        #expect(try settings.map { try $0.optionalString("c") } == ["{enable_nestloop=off}", "{enable_nestloop=off}"])
        await pool.close()
    }
}
