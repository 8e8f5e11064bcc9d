import ClusterState
import Logging
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// The call log is divided by month, without copying it and while it is written.
@Suite struct CallMonthTests {
    private static func call(_ id: String, at time: Int64) throws -> CallRecord {
        CallRecord(
            id: id, channel: ChannelKey(app: try AppID("app"), name: try ChannelName("room")),
            caller: CallRecord.Party("a"), callee: CallRecord.Party("b"), startedAt: RedisTime(milliseconds: time))
    }

    /// A database as the release before leaves it, which writes calls by the same statement.
    private static func formerPool(connections: Int) async throws -> PostgresPool {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(
            configuration: PostgresConfiguration(url: url), connections: connections, logger: Logger(label: "test"))
        let former = Migrations(pool: pool, level: 1, migrations: Array(Migration.all.prefix(13)))
        #expect(try await former.apply().last == "0013_call_identity")
        return pool
    }

    private static func now(_ pool: PostgresPool) async throws -> Int64 {
        let rows = try await pool.query("SELECT (extract(epoch FROM now()) * 1000)::bigint AS now")
        return try #require(try rows.first?.int64("now"))
    }

    private static func rows(of table: String, _ pool: PostgresPool) async throws -> [String] {
        try await pool.query("SELECT id FROM \(table) ORDER BY id").map { try $0.string("id") }
    }

    /// The files that hold a table and its indexes.
    private static func files(of table: String, _ pool: PostgresPool) async throws -> [Int64] {
        try await pool.query(
            """
            SELECT pg_relation_filenode(oid)::bigint AS file FROM pg_class
            WHERE oid = '\(table)'::regclass
                OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = '\(table)'::regclass AND indisvalid)
            ORDER BY 1
            """
        ).map { try $0.int64("file") }
    }

    @Test func theTableOfTheReleaseBeforeBecomesAMonthAsItIs() async throws {
        let pool = try await Self.formerPool(connections: 1)
        let (store, now) = (CallStore(pool: pool), try await Self.now(pool))
        for (id, time) in [("old", 1_500_000_000_000), ("now", now), ("far", 4_000_000_000_000)] {
            try await store.record(Self.call(id, at: time))
        }
        let before = try await Self.files(of: "calls", pool)
        let divided = Migrations(pool: pool, level: 1, migrations: Array(Migration.all.prefix(16)))
        #expect(
            try await divided.apply()
                == ["0014_calls_bound", "0015_calls_bound_validated", "0016_calls_by_month"])
        // One index less, because a key of the app and the id alone is not possible any
        // more; no other file has changed.
        let after = try await Self.files(of: "calls_before", pool)
        #expect(before.count == 6 && after.count == 5 && Set(after).isSubset(of: before))
        _ = try await Migrations(pool: pool, level: 1).apply()
        #expect(try await Self.rows(of: "calls_before", pool) == ["now", "old"])
        #expect(try await Self.rows(of: "calls_rest", pool) == ["far"])
        #expect(try await Self.rows(of: "call_log", pool) == ["far", "now", "old"])
        // What becomes known of a call is filled in.
        for (id, time) in [("old", 1_500_000_000_000), ("now", now), ("far", 4_000_000_000_000), ("new", now)] {
            var call = try Self.call(id, at: time)
            call.endedAt = call.startedAt + .seconds(1)
            try await store.record(call)
        }
        #expect(try await pool.query("SELECT FROM call_log WHERE state = 'not answered'").count == 4)
        #expect(try await Self.rows(of: "calls_before", pool) == ["new", "now", "old"])
        // Rows of two months can have the same ctid.
        #expect(try await store.prune(olderThanDays: 1, limit: 1) == 1)
        #expect(try await Self.rows(of: "calls", pool) == ["far", "new", "now"])
        await pool.close()
    }

    @Test func rightsToTheTableStay() async throws {
        let pool = try await Self.formerPool(connections: 1)
        try await pool.query("DO $$ BEGIN CREATE ROLE reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        try await pool.query("GRANT SELECT ON calls TO reader")
        try await pool.query("GRANT INSERT ON calls TO PUBLIC")
        _ = try await Migrations(pool: pool, level: 1).apply()
        let granted = try await pool.query(
            """
            SELECT has_table_privilege('reader', 'calls', 'SELECT') AS reads,
                has_table_privilege('reader', 'calls', 'INSERT') AS writes
            """)
        #expect(try granted[0].bool("reads") && granted[0].bool("writes"))
        await pool.close()
    }

    @Test func callsAreWrittenWhileTheTableIsDivided() async throws {
        let pool = try await Self.formerPool(connections: 6)
        let (store, now) = (CallStore(pool: pool), try await Self.now(pool))
        let written = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var count = 0
                    while !Task.isCancelled {
                        var call = try Self.call("\(writer)-\(count)", at: now + Int64(count))
                        try await store.record(call)
                        call.endedAt = call.startedAt
                        try await store.record(call)
                        count += 1
                    }
                    return count
                }
            }
            try await waitUntil("the writers to begin") {
                try await pool.query("SELECT FROM calls").count > 20 ? nil : "few calls"
            }
            #expect(try await Migrations(pool: pool, level: 1).apply().count == Migration.all.count - 13)
            let then = try await pool.query("SELECT FROM calls").count
            try await waitUntil("the writers to go on") {
                try await pool.query("SELECT FROM calls").count > then + 20 ? nil : "few more calls"
            }
            group.cancelAll()
            return try await group.reduce(0, +)
        }
        #expect(try await pool.query("SELECT FROM calls WHERE ended_at IS NOT NULL").count == written)
        await pool.close()
    }

    /// Whoever lists them has seen its name before it was removed.
    @Test(arguments: ["call_months", "history_parts"])
    func aMonthThatIsRemovedMeanwhileIsNotListed(view: String) async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let months = CallMonths(pool: pool)
        let last = try #require(try await months.list().last).name
        let parts = try await pool.query("SELECT name FROM \(view)").count
        try await pool.withConnection { connection async throws(PostgresError) in
            try await connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
            try await pool.query("DROP TABLE \(last)")
            let rows = try await connection.query(
                "SELECT name FROM \(view) WHERE name = '\(last)' OR bytes IS NULL", [])
            #expect(rows.isEmpty)
            try await connection.script("COMMIT")
        }
        #expect(try await pool.query("SELECT name FROM \(view)").count == parts - 1)
        await pool.close()
    }

    @Test func monthsAreMadeOnceAndTakeTheCallsThatWaitForThem() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 6)
        let months = CallMonths(pool: pool)
        let first = try #require(try await months.list().first)
        #expect(first.name == "calls_before" && first.since == nil)
        let now = try await Self.now(pool)
        // At its beginning the table has this month and the next one.
        #expect(first.until.milliseconds > now + 27 * 86_400_000)
        #expect(try await months.make() == 0)
        // Two calls that come before their months are made.
        let store = CallStore(pool: pool)
        for (id, days) in [("in-time", 0), ("first", 3), ("third", 65)] {
            try await store.record(
                Self.call(id, at: days == 0 ? now : first.until.milliseconds + Int64(days) * 86_400_000))
        }
        #expect(try await Self.rows(of: "calls_rest", pool) == ["first", "third"])
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await months.make(ahead: 6) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let list = try await months.list()
        #expect(made.filter { $0 == 0 }.count == 5 && made.max() == list.count - 1)
        #expect(list.count >= 5)
        // Without a gap, each a month of UTC.
        for (one, next) in zip(list, list.dropFirst()) {
            #expect(next.since == one.until)
            let days = (next.until - one.until) / Duration.seconds(86_400)
            #expect((28...31).contains(days))
        }
        #expect(try await Self.rows(of: list[1].name, pool) == ["first"])
        #expect(try await Self.rows(of: list[3].name, pool) == ["third"])
        #expect(try await Self.rows(of: "calls_rest", pool) == [])
        let names = try await pool.query(
            "SELECT to_char(since AT TIME ZONE 'UTC', '\"calls_\"YYYY_MM') AS name FROM call_months WHERE since IS NOT "
                + "NULL"
        )
        #expect(try names.map { try $0.string("name") }.sorted() == list.dropFirst().map(\.name))
        await pool.close()
    }

    @Test func onlyMonthsThatHavePassedAreRemoved() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let (months, store) = (CallMonths(pool: pool), CallStore(pool: pool))
        try await pool.query("DROP TABLE calls_before")
        for month in ["2020_01", "2020_02"] {
            let first = month.replacing("_", with: "-") + "-01 UTC"
            try await pool.query(
                """
                DO $$ BEGIN EXECUTE format('CREATE TABLE calls_\(month) PARTITION OF calls FOR VALUES FROM (%L) TO (%L)',
                    '\(first)'::timestamptz, '\(first)'::timestamptz + interval '1 month'); END $$
                """)
        }
        let (january, february) = (Int64(1_578_000_000_000), Int64(1_581_000_000_000))
        try await store.record(Self.call("january", at: january))
        try await store.record(Self.call("february", at: february))
        try await store.record(Self.call("present", at: try await Self.now(pool)))
        let list = try await months.list()
        #expect(list.map(\.name) == ["calls_2020_01", "calls_2020_02"])
        #expect(list.map { $0.since?.milliseconds } == [1_577_836_800_000, 1_580_515_200_000])
        let age = try await pool.query("SELECT (now()::date - '2020-02-15'::date)::bigint AS days")
        let days = Int(try age[0].int64("days"))
        let old = try await months.list(olderThanDays: days)
        #expect(old.map(\.name) == ["calls_2020_01"])
        #expect(try await months.remove(old[0]))
        #expect(try await months.remove(old[0]) == false)
        #expect(try await Self.rows(of: "calls", pool) == ["february", "present"])
        // What is reported of a call after its month is gone is stored.
        try await store.record(Self.call("january", at: january))
        #expect(try await Self.rows(of: "calls_rest", pool) == ["january", "present"])
        let rest = CallMonth(name: "calls_rest", until: RedisTime(milliseconds: 0), bytes: 0)
        #expect(try await months.remove(rest) == false)
        let table = CallMonth(name: "users", until: RedisTime(milliseconds: 0), bytes: 0)
        #expect(try await months.remove(table) == false)
        await pool.close()
    }

    /// Whoever waits for a lock on the call log makes all others wait.
    @Test func aMonthInUseIsNotWaitedForLong() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let other = PostgresPool(configuration: pool.configuration, connections: 1, logger: Logger(label: "test"))
        _ = try await other.query("BEGIN")
        _ = try await other.query("SELECT FROM calls")
        let months = CallMonths(pool: pool)
        let month = try #require(try await months.list().first)
        let started = ContinuousClock.now
        let refusals = [
            await #expect(throws: PostgresError.self) { _ = try await months.remove(month) },
            await #expect(throws: PostgresError.self) { _ = try await months.make(ahead: 4) },
        ]
        #expect(refusals.map { $0?.code } == ["55P03", "55P03"])
        #expect(ContinuousClock.now - started < Duration.seconds(4) * patience)
        #expect(try await months.list() == [month])
        await other.close()
        #expect(try await months.make(ahead: 4) > 0)
        #expect(try await months.remove(month))
        await pool.close()
    }
}
