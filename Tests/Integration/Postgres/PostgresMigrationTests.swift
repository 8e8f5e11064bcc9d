import Logging
import PostgresStore
import TestKit
import Testing

@Suite struct PostgresMigrationTests {
    @Test func twice() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(configuration: PostgresConfiguration(url: url), logger: Logger(label: "test"))
        let migrations = Migrations(pool: pool)
        let before = await #expect(throws: PostgresError.self) { try await migrations.check() }
        #expect(before?.kind == .migration)
        let applied = try await migrations.apply()
        #expect(applied.first == "0001_tables")
        try await migrations.check()
        #expect(try await migrations.apply() == [])
        await pool.close()
    }

    @Test func concurrently() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        let pool = try PostgresPool(
            configuration: PostgresConfiguration(url: url), connections: 6, logger: Logger(label: "test"))
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await Migrations(pool: pool).apply().count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.filter { $0 == 0 }.count == 5)
        try await Migrations(pool: pool).check()
        await pool.close()
    }

    @Test func editedAndNewerOnesAreRefused() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query("UPDATE schema_migrations SET checksum = 'edited' WHERE number = 2")
        let edited = await #expect(throws: PostgresError.self) { try await Migrations(pool: pool).apply() }
        #expect(edited?.message.contains("0002_users") == true)
        await #expect(throws: PostgresError.self) { try await Migrations(pool: pool).check() }

        let newer = try await PostgresServer.shared.migratedPool(connections: 1)
        try await newer.query("INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, '9999_x', 'x')")
        let error = await #expect(throws: PostgresError.self) { try await Migrations(pool: newer).check() }
        #expect(error?.message.contains("newer") == true)
        await pool.close()
        await newer.close()
    }
}
