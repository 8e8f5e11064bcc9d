package import BusProtocol
package import SignalingProtocol

/// A key of the server API as administrators see it.
package struct APIKeyRecord: Equatable, Sendable {
    /// What gateways check.
    package var key: APIKey
    /// What its owner wrote about it; may be empty.
    package var note: String
    /// When it was made, in Unix milliseconds.
    package var createdAt: Int64
    /// When it was revoked, in Unix milliseconds; nil while it is valid.
    package var revokedAt: Int64?
}

/// The table `api_keys`. Every method throws ``PostgresError``.
package struct APIKeyStore: Sendable {
    private static let columns = """
        id, app, digest, scopes, requests_per_second, note, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
        extract(epoch FROM expires_at)::bigint AS expiry, (extract(epoch FROM revoked_at) * 1000)::bigint AS revoked_ms
        """

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The valid key with this id; nil when there is none, or when it is revoked or has expired.
    package func find(_ id: String) async throws(PostgresError) -> APIKey? {
        let rows = try await pool.query(
            """
            SELECT \(Self.columns) FROM api_keys
            WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
            """, [.text(id)], within: pool.configuration.actTimeout)
        return try rows.first.map { row throws(PostgresError) in try Self.record(row) }?.key
    }

    /// The number of keys that are neither revoked nor expired.
    package func validCount() async throws(PostgresError) -> Int64 {
        let rows = try await pool.query(
            """
            SELECT count(*) AS keys FROM api_keys
            WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
            """)
        return try rows.first?.int64("keys") ?? 0
    }

    /// All keys, revoked ones too, the oldest first; those of one app when `app` is given.
    package func list(app: AppID? = nil) async throws(PostgresError) -> [APIKeyRecord] {
        var records: [APIKeyRecord] = []
        let rows = try await pool.query(
            """
            SELECT \(Self.columns) FROM api_keys WHERE $1::text IS NULL OR app = $1 ORDER BY created_at, id
            """, [.optional(app?.rawValue)])
        for row in rows { records.append(try Self.record(row)) }
        return records
    }

    /// Stores a new key.
    /// - Returns: nil when its app does not exist.
    package func create(_ key: APIKey, note: String) async throws(PostgresError) -> APIKeyRecord? {
        let rows = try await pool.query(
            """
            INSERT INTO api_keys (id, app, digest, scopes, requests_per_second, note, expires_at)
            SELECT $1, $2, $3, $4, $5::integer, $6, to_timestamp($7::bigint)
            WHERE $2::text IS NULL OR EXISTS (SELECT FROM apps WHERE apps.id = $2)
            RETURNING \(Self.columns)
            """,
            [
                .text(key.id), .optional(key.app?.rawValue), .text(key.digest), .text(key.scopes.text),
                .int(Int64(key.requestsPerSecond)), .text(note), key.expiry.map { .int($0) } ?? .null,
            ])
        return try rows.first.map { row throws(PostgresError) in try Self.record(row) }
    }

    /// Revokes a key; one that is revoked already stays so.
    /// - Returns: false when there is no key with this id.
    package func revoke(_ id: String) async throws(PostgresError) -> Bool {
        try await pool.query(
            "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1", [.text(id)]
        ).affected == 1
    }

    private static func record(_ row: PostgresRow) throws(PostgresError) -> APIKeyRecord {
        let app: AppID?
        do {
            app = try row.optionalString("app").map { name throws(SignalingError) in try AppID(name) }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.shape, "the table api_keys contains an invalid app id")
        }
        let checked = APIKey(
            id: try row.string("id"), digest: try row.string("digest"), app: app,
            scopes: APIScopes(text: try row.string("scopes")),
            requestsPerSecond: Int(try row.int64("requests_per_second")), expiry: try row.optionalInt64("expiry"))
        return APIKeyRecord(
            key: checked, note: try row.string("note"), createdAt: try row.int64("created_ms"),
            revokedAt: try row.optionalInt64("revoked_ms"))
    }
}
