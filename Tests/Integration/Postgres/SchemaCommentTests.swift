import TestKit
import Testing

@testable import PostgresStore

/// `\d+` of psql is the documentation of the tables.
@Suite struct SchemaCommentTests {
    /// Tables, views and sequences, their columns, and functions that have no comment. Days and months are described by
    /// the table that they are part of.
    private static let uncommented = """
        SELECT c.relname::text AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT c.relispartition
            AND coalesce(obj_description(c.oid, 'pg_class'), '') = ''
        UNION ALL
        SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
            AND a.attnum > 0 AND NOT a.attisdropped AND coalesce(col_description(c.oid, a.attnum), '') = ''
        UNION ALL
        SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND coalesce(obj_description(p.oid, 'pg_proc'), '') = ''
        ORDER BY 1
        """

    @Test func everythingHasAComment() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        #expect(try await pool.query(Self.uncommented).map { try $0.string("name") } == [])
        // What has none is found.
        try await pool.query("CREATE TABLE bare (id bigint)")
        try await pool.query("CREATE VIEW seen AS SELECT id FROM bare")
        try await pool.query("CREATE FUNCTION told() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
        #expect(
            try await pool.query(Self.uncommented).map { try $0.string("name") }
                == ["bare", "bare.id", "seen", "seen.id", "told()"])
        await pool.close()
    }
}
