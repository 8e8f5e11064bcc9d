import FoundationEssentials
import Testing

@testable import PostgresStore

@Suite struct MigrationTests {
    @Test func everyFileIsListedInOrder() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let files = try FileManager.default.contentsOfDirectory(atPath: "/\(root)/Shared/PostgresStore/Migrations")
        #expect(files.sorted() == Migration.all.map { "\($0.name).sql" })
        #expect(Migration.all.map(\.number) == (1...Int64(files.count)).map { $0 })
        for migration in Migration.all {
            let digits = String(migration.number)
            #expect(migration.name.hasPrefix(String(repeating: "0", count: 4 - digits.count) + digits + "_"))
        }
    }

    @Test func namesOfWhatFilesMake() {
        let sql = """
            -- CREATE TABLE no (id bigint)
            CREATE TABLE a (id bigint);
            CREATE INDEX no ON a (id);
                CREATE TABLE IF NOT EXISTS b (id bigint);
            CREATE OR REPLACE VIEW c AS SELECT 1;
            CREATE FUNCTION d(no text[]) RETURNS void LANGUAGE sql AS '';
            EXECUTE format('CREATE TABLE %I (LIKE a)', e);
            CREATE SEQUENCE f; CREATE TYPE g AS ENUM ('no');
            ALTER TABLE a RENAME TO h;
            """
        #expect(Set(Migration.names(in: sql)) == ["a", "b", "c", "d", "f", "h"])
        let some: Set = ["apps", "calls_before", "calls_rest", "user_uids", "grant_reader", "bans"]
        #expect(Migration.names.isSuperset(of: some))
    }

    @Test func checksumTellsFilesApart() {
        // The published FNV-1a test vectors.
        #expect(Migration(1, "a", []).checksum == "cbf29ce484222325")
        #expect(Migration(1, "a", Array("foobar".utf8)).checksum == "85944171f73967e8")
    }

    @Test func everyFileSaysWhatItDoesToRunningProcesses() {
        for migration in Migration.all where migration.number > Migration.lastWithoutHeader {
            #expect(Migration.header(of: migration.sql) != nil, "\(migration.name)")
            // What a contract removes was used by an earlier level.
            #expect(migration.kind == .expand || migration.readersFrom > 1, "\(migration.name)")
        }
        // Applied to databases before there was such a line: editing them would make those databases differ.
        for migration in Migration.all.prefix(Int(Migration.lastWithoutHeader)) {
            #expect(migration.kind == .expand && migration.readersFrom == 1)
        }
    }

    @Test func theFirstLineIsRead() throws {
        let expand = try #require(Migration.header(of: "-- expand, readers_from 1\nSELECT 1"))
        #expect(expand == (.expand, 1))
        let contract = try #require(Migration.header(of: "-- contract, readers_from 12\n"))
        #expect(contract == (.contract, 12))
        for line in [
            "", "SELECT 1", "-- expand", "-- expand, readers_from 0", "-- extend, readers_from 1",
            " -- expand, readers_from 1",
        ] {
            #expect(Migration.header(of: line) == nil, "\(line)")
        }
    }

    private static let first = Migration(1, "0001_a", [])
    private static let expand = Migration(12, "0012_b", Array("-- expand, readers_from 1\n".utf8))
    private static let contract = Migration(13, "0013_c", Array("-- contract, readers_from 3\n".utf8))
    private static let later = Migration(14, "0014_d", Array("-- expand, readers_from 1\n".utf8))
    private static let build = [first, expand, contract, later]

    private static func row(_ migration: Migration) -> AppliedMigrations.Row {
        AppliedMigrations.Row(
            number: migration.number, name: migration.name, checksum: migration.checksum,
            readersFrom: migration.readersFrom)
    }

    @Test func whatIsMissingIsSortedByKind() throws {
        let none = try AppliedMigrations([], migrations: Self.build, level: 3)
        #expect(none.lacking.map(\.number) == [1, 12, 14] && none.waiting.map(\.number) == [13])
        let gap = try AppliedMigrations(
            [Self.first, Self.expand, Self.later].map(Self.row), migrations: Self.build, level: 3)
        #expect(gap.lacking == [] && gap.waiting == [Self.contract] && gap.ahead == [])
        let all = try AppliedMigrations(Self.build.map(Self.row), migrations: Self.build, level: 3)
        #expect(all.pending == [])
    }

    @Test func theDatabaseMayBeAheadAsFarAsTheLevelReaches() throws {
        let older = try AppliedMigrations(Self.build.map(Self.row), migrations: [Self.first], level: 3)
        #expect(older.pending == [] && older.ahead == ["0012_b", "0013_c", "0014_d"])
        #expect(throws: PostgresError.self) {
            _ = try AppliedMigrations(Self.build.map(Self.row), migrations: [Self.first], level: 2)
        }
    }
}
