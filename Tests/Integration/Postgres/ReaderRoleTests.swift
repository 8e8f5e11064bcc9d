import Logging
import TestKit
import Testing

@testable import PostgresStore

/// The role `heliograph_reader` reads everything but secrets, and writes nothing.
@Suite struct ReaderRoleTests {
    /// A connection that acts as the role.
    private static func reader(of pool: PostgresPool) async throws -> PostgresPool {
        let reader = PostgresPool(configuration: pool.configuration, connections: 1, logger: Logger(label: "test"))
        try await reader.query("SET ROLE heliograph_reader")
        return reader
    }

    private static func isRefused(_ sql: String, _ pool: PostgresPool) async throws -> Bool {
        do throws(PostgresError) {
            try await pool.query(sql)
            return false
        } catch {
            // Insufficient privilege; anything else is an error of the test.
            guard error.code == "42501" else { throw error }
            return true
        }
    }

    @Test func itReadsAllViewsAndNoSecrets() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let reader = try await Self.reader(of: pool)
        let views = try await pool.query("SELECT viewname::text AS name FROM pg_views WHERE schemaname = 'public'")
        #expect(views.count >= 11)
        for view in views { try await reader.query("SELECT * FROM \(try view.string("name"))") }
        for table in ["users", "user_attributes", "channel_attributes", "calls", "attribute_history", "waiting_mail"] {
            try await reader.query("SELECT * FROM \(table)")
        }
        try await reader.query("SELECT id, token_required, limits FROM apps")
        try await reader.query("SELECT app, host, port FROM sip_trunks")
        for secret in [
            "SELECT certificate FROM apps", "SELECT * FROM apps", "SELECT secret FROM sip_trunks",
            "SELECT auth_user FROM sip_trunks", "SELECT * FROM sip_trunks", "SELECT * FROM applied_commands",
        ] {
            #expect(try await Self.isRefused(secret, reader), "\(secret)")
        }
        await reader.close()
        await pool.close()
    }

    /// Every column whose name or table sounds like a secret must be out of its reach, also in tables that come later.
    @Test func nothingThatSoundsLikeASecretIsReadable() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let readable = try await pool.query(
            """
            SELECT c.relname || '.' || a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0
                AND NOT a.attisdropped AND has_column_privilege('heliograph_reader', c.oid, a.attnum, 'SELECT')
                AND c.relname || '.' || a.attname ~ 'secret|certificate|password|hash|token|(^|_)key|auth_user|[.]line$'
            """)
        // Whether a login needs a token is no secret.
        #expect(
            try readable.map { try $0.string("name") }.sorted() == ["app_usage.token_required", "apps.token_required"])
        await pool.close()
    }

    @Test func itWritesNothing() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let reader = try await Self.reader(of: pool)
        for change in [
            "UPDATE retention SET days = 1", "DELETE FROM users", "INSERT INTO waiting_mail VALUES ('a', 'b', 1)",
            "TRUNCATE calls", "CREATE TABLE mine (id bigint)", "SELECT recount()", "SELECT make_history_days('9 days')",
        ] {
            #expect(try await Self.isRefused(change, reader), "\(change)")
        }
        await reader.close()
        await pool.close()
    }

    @Test func viewsOfLaterReleasesAreReadable() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let later = Migration(
            9001, "9001_view", Array("-- expand, readers_from 1\nCREATE VIEW more AS SELECT 1 AS id".utf8))
        _ = try await Migrations(pool: pool, level: 1, migrations: Migration.all + [later]).apply()
        let reader = try await Self.reader(of: pool)
        #expect(try await reader.query("SELECT id FROM more").count == 1)
        await reader.close()
        await pool.close()
    }

    /// A user who may not make roles gets the tables, and is told what a superuser has to do.
    @Test func aUserWhoMayNotMakeRolesGetsTheTables() async throws {
        // A server of its own: roles are shared by all databases of a server.
        let server = try await PostgresServer()
        try await server.query("CREATE ROLE plain LOGIN")
        try await server.query("CREATE DATABASE plain OWNER plain")
        let url = "postgresql://plain@127.0.0.1:\(server.port)/plain"
        let pool = try PostgresPool(
            configuration: PostgresConfiguration(url: url), connections: 1, logger: Logger(label: "test"))
        let migrations = Migrations(pool: pool, level: 1)
        #expect(try await migrations.apply().count == Migration.all.count)
        let advice = try #require(try await migrations.readerAdvice())
        #expect(advice.contains("`CREATE ROLE heliograph_reader NOLOGIN`"))
        try await server.query("CREATE ROLE heliograph_reader NOLOGIN")
        #expect(try await migrations.apply() == [])
        #expect(try await migrations.readerAdvice() == nil)
        let granted = try await pool.query(
            "SELECT has_table_privilege('heliograph_reader', 'app_usage', 'SELECT') AS reads")
        #expect(try granted[0].bool("reads"))
        await pool.close()
        try await server.remove()
    }
}
