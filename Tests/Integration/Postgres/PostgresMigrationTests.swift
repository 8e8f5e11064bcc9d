import Logging
import TestKit
import Testing

@testable import PostgresStore

@Suite struct PostgresMigrationTests {
    @Test func twice() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(configuration: PostgresConfiguration(url: url), logger: Logger(label: "test"))
        let migrations = Migrations(pool: pool, level: 1)
        let before = await #expect(throws: PostgresError.self) { try await migrations.check() }
        #expect(before?.kind == .migration)
        let applied = try await migrations.apply()
        #expect(applied.first == "0001_tables")
        try await migrations.check()
        #expect(try await migrations.apply() == [])
        await pool.close()
    }

    /// What a restore takes for others', it refuses to touch: nothing that migrations and
    /// upkeep make may count as that.
    @Test func nothingThatIsMadeCountsAsOthers() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        try await pool.query("SELECT make_history_days('3 days'), make_call_months('3 months')")
        #expect(try await DatabaseContents(pool: pool).state() == .unused)
        try await pool.query("CREATE TABLE theirs (id bigserial)")
        let theirs = try await DatabaseContents(pool: pool).foreignObjects()
        #expect(theirs.map(\.description) == ["sequence theirs_id_seq", "table theirs"])
        #expect(theirs.map(\.relation) == ["public.theirs_id_seq", "public.theirs"])
        await pool.close()
    }

    @Test func concurrently() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(
            configuration: PostgresConfiguration(url: url), connections: 6, logger: Logger(label: "test"))
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await Migrations(pool: pool, level: 1).apply().count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.filter { $0 == 0 }.count == 5)
        try await Migrations(pool: pool, level: 1).check()
        await pool.close()
    }

    @Test func editedOnesAreRefused() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("UPDATE schema_migrations SET checksum = 'edited' WHERE number = 2")
        let migrations = Migrations(pool: pool, level: 1)
        let edited = await #expect(throws: PostgresError.self) { try await migrations.apply() }
        #expect(edited?.message.contains("0002_users") == true)
        await #expect(throws: PostgresError.self) { try await migrations.check() }
        await pool.close()
    }

    /// A synthetic next release: level 2 adds a table, level 3 removes a column.
    private static let expand = Migration(
        9001, "9001_more", Array("-- expand, readers_from 1\nCREATE TABLE more (id bigint)".utf8))
    private static let contract = Migration(
        9002, "9002_less", Array("-- contract, readers_from 2\nALTER TABLE apps DROP COLUMN sip_trunk".utf8))

    @Test func aBuildWorksWithADatabaseThatIsAheadButReadable() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let present = Migrations(pool: pool, level: 1)
        let next = Migrations(pool: pool, level: 2, migrations: Migration.all + [Self.expand])
        #expect(try await present.check() == [])
        let lacking = await #expect(throws: PostgresError.self) { try await next.check() }
        #expect(lacking?.message == "the database lacks 9001_more: run `heliographctl migrate`")
        #expect(try await next.apply() == ["9001_more"])
        #expect(try await next.check() == [])
        // The build before goes on, starts again, and may be told to migrate.
        #expect(try await present.check() == ["9001_more"])
        #expect(try await present.apply() == [])
        await pool.close()
    }

    @Test func aContractWaitsUntilItIsAskedForAndEndsOlderBuilds() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let present = Migrations(pool: pool, level: 1)
        let next = Migrations(pool: pool, level: 2, migrations: Migration.all + [Self.expand, Self.contract])
        #expect(try await next.apply() == ["9001_more"])
        // Not applied: the next build works without it, and so does the present one.
        #expect(try await next.check() == [])
        #expect(try await next.waiting() == (["9002_less"], 2))
        #expect(try await present.check() == ["9001_more"])
        #expect(try await next.apply(.all) == ["9002_less"])
        #expect(try await next.waiting() == ([], 0))
        #expect(try await next.check() == [])
        let refusal = await #expect(throws: PostgresError.self) { try await present.check() }
        #expect(
            refusal?.message
                == "since 9002_less the database works with builds of level 2 or higher; this one has level 1")
        #expect(refusal?.isRefusal == true)
        await #expect(throws: PostgresError.self) { try await present.apply() }
        await pool.close()
    }

    @Test func whatWasAppliedBeforeAFailureStays() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let wrong = Migration(
            9002, "9002_wrong", Array("-- expand, readers_from 1\nCREATE TABLE apps (id bigint)".utf8))
        let failing = Migrations(pool: pool, level: 1, migrations: Migration.all + [Self.expand, wrong])
        let failure = await #expect(throws: PostgresError.self) { try await failing.apply() }
        #expect(failure?.code == "42P07" && failure?.message.hasPrefix("9002_wrong: ") == true)
        let next = Migrations(pool: pool, level: 1, migrations: Migration.all + [Self.expand])
        #expect(try await next.check() == [])
        #expect(try await next.apply() == [])
        await pool.close()
    }

    /// A transaction that goes on using a table delays the migration, but nobody else.
    @Test func aMigrationThatWaitsForALockLetsOthersPass() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let other = PostgresPool(configuration: pool.configuration, connections: 1, logger: Logger(label: "test"))
        _ = try await other.query("BEGIN")
        _ = try await other.query("SELECT FROM apps")
        let wider = Migration(
            9001, "9001_wider", Array("-- expand, readers_from 1\nALTER TABLE apps ADD COLUMN more text".utf8))
        let next = Migrations(pool: pool, level: 1, migrations: Migration.all + [wider])
        async let applied = next.apply()
        try await waitUntil("the migration to wait") {
            let waiting = try await pool.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'apps'::regclass")
            return waiting.isEmpty ? "nobody waits" : nil
        }
        let passed = try? await pool.query("SELECT FROM apps")
        _ = try await other.query("COMMIT")
        #expect(passed != nil)
        #expect(try await applied == ["9001_wider"])
        await other.close()
        await pool.close()
    }

    @Test func aTableOfAnEarlierBuildGetsTheColumn() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("ALTER TABLE schema_migrations DROP COLUMN readers_from")
        let migrations = Migrations(pool: pool, level: 1)
        #expect(try await migrations.check() == [])
        #expect(try await migrations.apply() == [])
        let rows = try await pool.query("SELECT max(readers_from) AS level FROM schema_migrations")
        #expect(try rows.first?.int64("level") == 1)
        await pool.close()
    }

    /// Whatever the URL says: with `any`, the standby is found by a query; otherwise no connection is made.
    @Test func aStandbyIsRefused() async throws {
        let server = try await PostgresServer()
        let url = try await server.createDatabase()
        try await server.stop()
        try await server.start(as: .orphan)
        let host = "127.0.0.1:\(server.port)"
        let urls = [
            (url, "is a standby"), ("\(url)?target_session_attrs=read-write", "is a standby"),
            (url.replacing(host, with: "\(host),\(host)"), "are standbys"),
        ]
        for (url, word) in urls {
            let configuration = try PostgresConfiguration(url: url)
            let pool = PostgresPool(configuration: configuration, connections: 1, logger: Logger(label: "test"))
            let migrations = Migrations(pool: pool, level: 1)
            // The second time the breaker is open.
            for _ in 0..<2 {
                let refusal = await #expect(throws: PostgresError.self) { try await migrations.check() }
                #expect(refusal?.kind == .standby && refusal?.isRefusal == true)
                #expect(refusal?.message.contains(word) == true, "\(refusal?.message ?? "none")")
            }
            let other = await #expect(throws: PostgresError.self) { try await migrations.apply() }
            #expect(other?.kind == .standby)
            await pool.close()
        }
        try await server.remove()
    }
}
