import BusProtocol
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

@Suite struct UsageStoreTests {
    private static func pool() async throws -> PostgresPool {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        for app in ["a", "b"] {
            _ = try await AppStore(pool: pool).create(id: try AppID(app), certificate: "", tokenRequired: false)
        }
        return pool
    }

    private static func today(_ pool: PostgresPool) async throws -> Int64 {
        let rows = try await pool.query(
            "SELECT ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01')::bigint AS day")
        return try #require(try rows.first?.int64("day"))
    }

    /// The view, as `APP DAYS-AGO COLUMN...`.
    private static func lines(_ pool: PostgresPool, _ columns: String...) async throws -> [String] {
        let shown = (["app", "(now() AT TIME ZONE 'UTC')::date - day"] + columns).joined(separator: ", ")
        return try await pool.query("SELECT concat_ws(' ', \(shown)) AS line FROM usage_by_day ORDER BY app, day DESC")
            .map { try $0.string("line") }
    }

    @Test func reportsOfGatewaysAreAddedUp() async throws {
        let pool = try await Self.pool()
        let (store, today) = (UsageStore(pool: pool), try await Self.today(pool))
        let (a, b) = (try AppID("a"), try AppID("b"))
        let first = [AppUse(a, day: today, messages: 3, deliveries: 30), AppUse(b, day: today - 1, messages: 1)]
        try await store.record(first, at: GatewayID("g1"))
        try await store.record(
            [AppUse(a, day: today, messages: 5, deliveries: 40), AppUse(try AppID("none"), day: today, messages: 1)],
            at: GatewayID("g2"))
        // A repetition, one that comes late, and one that is too old: after the day was summed up it would count twice.
        try await store.record(
            [AppUse(a, day: today, messages: 4, deliveries: 41), AppUse(b, day: today - 2, messages: 9)],
            at: GatewayID("g1"))
        try await store.record(first, at: GatewayID("g1"))
        #expect(try await Self.lines(pool, "messages", "deliveries") == ["a 0 9 81", "b 1 1 0"])
        try await pool.query("UPDATE gateway_days SET day = day - 2")
        try await pool.query(
            """
            INSERT INTO app_days (app, day, messages)
            SELECT 'a', day, 100 FROM gateway_days WHERE app = 'a' LIMIT 1
            """)
        try await store.sumUp()
        try await store.sumUp()
        #expect(try await Self.lines(pool, "messages", "deliveries") == ["a 2 109 81", "b 3 1 0"])
        #expect(try await pool.query("SELECT FROM gateway_days").isEmpty)
        await pool.close()
    }

    @Test func theMostUsersAtOnce() async throws {
        let pool = try await Self.pool()
        let store = UsageStore(pool: pool)
        for (sessions, peak) in [(2, 5), (7, 10), (1, 10)] {
            try await pool.query(
                """
                INSERT INTO gateway_sessions (app, gateway, sessions) VALUES ('a', 'g1', $1), ('a', 'g2', 3)
                ON CONFLICT (app, gateway) DO UPDATE SET sessions = EXCLUDED.sessions
                """, [.int(Int64(sessions))])
            try await store.notePeaks()
            #expect(try await Self.lines(pool, "peak_users") == ["a 0 \(peak)"])
        }
        await pool.close()
    }

    @Test func callsCountWhenTheyHaveEnded() async throws {
        let pool = try await Self.pool()
        let store = CallStore(pool: pool)
        let begin = try await Self.today(pool) * 86_400_000 - 60_000
        func call(_ id: String, _ direction: CallRecord.Direction, accepted: Int64?, ended: Int64?) throws -> CallRecord
        {
            let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("room"))
            var call = CallRecord(
                id: id, channel: channel, caller: .init("anna"), callee: .init("bob"),
                startedAt: RedisTime(milliseconds: begin))
            call.direction = direction
            call.acceptedAt = accepted.map { RedisTime(milliseconds: begin + $0 * 1000) }
            call.endedAt = ended.map { RedisTime(milliseconds: begin + $0 * 1000) }
            return call
        }
        for direction in [CallRecord.Direction.internal, .outbound, .inbound] {
            let id = direction.rawValue
            try await store.record(try call(id, direction, accepted: nil, ended: nil))
            try await store.record(try call(id, direction, accepted: 10, ended: nil))
            #expect(try await Self.lines(pool, "calls + phone_calls").first?.hasPrefix("a 1 0") != true)
        }
        // The end twice; an end that comes before the acceptance; a call that nobody answers; one that is over at once.
        for direction in [CallRecord.Direction.internal, .outbound] {
            for _ in 1...2 { try await store.record(try call(direction.rawValue, direction, accepted: 10, ended: 100)) }
        }
        try await store.record(try call("inbound", .inbound, accepted: nil, ended: 30))
        try await store.record(try call("missed", .internal, accepted: nil, ended: 30))
        try await store.record(try call("whole", .internal, accepted: 5, ended: 10))
        let lines = try await Self.lines(pool, "calls", "call_time", "phone_calls", "phone_call_time")
        #expect(lines == ["a 1 2 00:01:35 2 00:01:50"])
        await pool.close()
    }
}
