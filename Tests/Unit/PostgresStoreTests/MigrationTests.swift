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

    @Test func checksumTellsFilesApart() {
        // The published FNV-1a test vectors.
        #expect(Migration(1, "a", []).checksum == "cbf29ce484222325")
        #expect(Migration(1, "a", Array("foobar".utf8)).checksum == "85944171f73967e8")
    }
}
