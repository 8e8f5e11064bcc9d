import Logging
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// What attributes were is kept by day, for as long as an operator says.
@Suite struct AttributeHistoryTests {
    private static func change(
        _ command: String, _ account: String, _ change: AttributeChange
    ) throws -> UserAttributeChange {
        UserAttributeChange(
            command: CommandID(command), user: UserKey(app: try AppID("app"), account: try Account(account)),
            change: change)
    }

    private static func lines(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            SELECT concat_ws(' ', owner_kind, owner, name, change, value, changed_by) AS line FROM attribute_history
            ORDER BY changed_at, owner, name
            """
        ).map { try $0.string("line") }
    }

    @Test func eachChangeIsNoted() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("INSERT INTO apps (id, certificate) VALUES ('app', 'c')")
        let store = AttributeStore(pool: pool)
        let (name, channel) = (
            try AttributeName("mood"), ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
        )
        for (command, value) in [("1", "good"), ("2", "bad")] {
            _ = try await store.changeUserAttributes([
                Self.change(command, "alice", .update(Attribute(name: name, value: value)))
            ])
        }
        _ = try await store.changeUserAttributes([Self.change("3", "alice", .delete(name))])
        _ = try await store.changeChannelAttributes([
            ChannelAttributeChange(
                command: CommandID("4"), channel: channel, account: try Account("bob"),
                change: .update(Attribute(name: name, value: "calm")))
        ])
        #expect(
            try await Self.lines(pool) == [
                "user alice mood set good alice", "user alice mood set bad alice", "user alice mood deleted",
                "channel room mood set calm bob",
            ])
        // Nothing is written where nothing is kept, and what goes with its app leaves nothing behind.
        let histories = Histories(pool: pool)
        #expect(try await histories.keep("attributes", days: 0))
        _ = try await store.changeUserAttributes([
            Self.change("5", "alice", .update(Attribute(name: name, value: "lost")))
        ])
        #expect(try await Self.lines(pool).count == 4)
        #expect(try await histories.keep("attributes", days: nil))
        #expect(try await histories.list().first?.keptDays == 30)
        #expect(try await AppStore(pool: pool).remove(try AppID("app")))
        #expect(try await Self.lines(pool) == [])
        await pool.close()
    }

    @Test func daysAreMadeOnce() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 4)
        let histories = Histories(pool: pool)
        // Today and the two days after it exist from the beginning.
        #expect(try await histories.makeDays() == 0)
        #expect(try await histories.list().first?.parts == 4)
        // As if nobody had made days for long: what came meanwhile is in the table of the rest.
        for row in try await pool.query(
            "SELECT name FROM history_parts WHERE history = 'attributes' AND since IS NOT NULL")
        {
            try await pool.query("SELECT drop_history_day($1)", [.text(try row.string("name"))])
        }
        try await pool.query(
            """
            INSERT INTO attribute_history (app, owner_kind, owner, name, change, version, changed_at)
            SELECT 'app', 'user', 'alice', 'mood', 'deleted', 1, now() - make_interval(days => age) FROM generate_series(0, 2) AS age
            """)
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await histories.makeDays() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(made.sorted() == [0, 0, 0, 3])
        #expect(try await pool.query("SELECT FROM attribute_history_rest").count == 2)
        #expect(try await pool.query("SELECT FROM attribute_history").count == 3)
        await pool.close()
    }

    /// A day is past when all of it is.
    @Test func aDayGoesAsAWhole() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let histories = Histories(pool: pool)
        try await pool.query(
            """
            DO $$ BEGIN EXECUTE format('CREATE TABLE attribute_history_2020_01_01 PARTITION OF attribute_history '
                'FOR VALUES FROM (%L) TO (%L)', '2020-01-01 UTC'::timestamptz, '2020-01-02 UTC'::timestamptz); END $$
            """)
        let past = try await histories.past()
        #expect(past.map(\.name) == ["attribute_history_2020_01_01"])
        #expect(try await histories.remove(past[0]))
        #expect(try await !histories.remove(past[0]))
        await pool.close()
    }

    @Test func noOtherTableGoes() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let histories = Histories(pool: pool)
        for name in ["attribute_history_rest", "users"] {
            let part = HistoryPart(history: "attributes", name: name, until: RedisTime(milliseconds: 0), bytes: 0)
            #expect(try await !histories.remove(part))
        }
        await pool.close()
    }

    @Test func onlyAHistoryThatMayBeKeptIsKept() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let histories = Histories(pool: pool)
        let refusal = await #expect(throws: PostgresError.self) { _ = try await histories.keep("calls", days: 0) }
        #expect(refusal?.code == "23514")
        #expect(try await !histories.keep("nonsense", days: 3))
        await pool.close()
    }

    /// Whoever waits for a lock makes all others wait.
    @Test func aDayInUseIsNotWaitedForLong() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let other = PostgresPool(configuration: pool.configuration, connections: 1, logger: Logger(label: "test"))
        try await other.query("BEGIN")
        try await other.query("SELECT FROM attribute_history")
        let name = try await pool.query("SELECT name FROM history_parts WHERE since IS NOT NULL ORDER BY name LIMIT 1")
        let part = HistoryPart(
            history: "attributes", name: try name[0].string("name"), until: RedisTime(milliseconds: 0), bytes: 0)
        let histories = Histories(pool: pool)
        let refusal = await #expect(throws: PostgresError.self) { _ = try await histories.remove(part) }
        #expect(refusal?.code == "55P03")
        await other.close()
        #expect(try await histories.remove(part))
        await pool.close()
    }
}
