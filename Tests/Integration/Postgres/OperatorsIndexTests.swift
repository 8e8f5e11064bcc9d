import Logging
import TestKit
import Testing

@testable import PostgresStore

/// The call log's indexes for operators (0029): what is small has them at once, and nobody waits for what is large.
@Suite struct OperatorsIndexTests {
    /// The tables of the call log that have an index for the party, and how many there are.
    private static func indexed(_ party: String, _ pool: PostgresPool) async throws -> (tables: [String], of: Int) {
        let rows = try await pool.query(
            """
            SELECT t.relname::text AS name FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid
            JOIN pg_class t ON t.oid = x.indrelid WHERE i.inhparent = 'calls_by_\(party)'::regclass ORDER BY 1
            """)
        return (try rows.map { try $0.string("name") }, try await pool.query("SELECT FROM call_months").count)
    }

    /// Whether an index covers the whole call log.
    private static func isWhole(_ index: String, _ pool: PostgresPool) async throws -> Bool {
        let rows = try await pool.query(
            "SELECT indisvalid AS whole FROM pg_index WHERE indexrelid = '\(index)'::regclass")
        return try rows.first?.bool("whole") == true
    }

    @Test func aNewClusterHasThemForAllMonths() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        _ = try await CallMonths(pool: pool).make(ahead: 6)
        for party in ["caller", "callee"] {
            let (tables, count) = try await Self.indexed(party, pool)
            #expect(tables.count == count && count > 5)
            #expect(try await Self.isWhole("calls_by_\(party)", pool))
        }
        await pool.close()
    }

    @Test func aLargeTableGetsThemByHandAndLaterMonthsByThemselves() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(
            configuration: PostgresConfiguration(url: url), connections: 1, logger: Logger(label: "test"))
        let former = Migrations(pool: pool, level: 1, migrations: Migration.all.filter { $0.number < 29 })
        _ = try await former.apply()
        // A few calls with long texts, which are stored as they are.
        try await pool.query("ALTER TABLE calls_before ALTER COLUMN sip_reason SET STORAGE EXTERNAL")
        try await pool.query(
            """
            INSERT INTO calls (app, id, channel, caller, callee, kind, direction, started_at, sip_reason)
            SELECT 'app', 'call' || g, 'room', 'ann', 'ben', 'user', 'internal', now(), repeat('long', 2000000)
            FROM generate_series(1, 10) g
            """)
        #expect(try await Migrations(pool: pool, level: 1).apply().contains("0029_operators_indexes"))
        _ = try await CallMonths(pool: pool).make(ahead: 3)
        let (tables, count) = try await Self.indexed("caller", pool)
        #expect(tables.count == count - 1 && !tables.contains("calls_before"))
        #expect(try await !Self.isWhole("calls_by_caller", pool))
        // As Docs/psql.md says.
        try await pool.query(
            "CREATE INDEX CONCURRENTLY calls_before_by_caller ON calls_before (app, caller, started_at)")
        try await pool.query("ALTER INDEX calls_by_caller ATTACH PARTITION calls_before_by_caller")
        #expect(try await Self.isWhole("calls_by_caller", pool))
        await pool.close()
    }
}
