package import BusProtocol
internal import SignalingProtocol

/// What became of a new key of the server API.
package enum APIKeyCreation: Equatable, Sendable {
    /// It is stored; its record in a list of keys, a JSON object.
    case created(record: String)
    case unknownApp
    /// There are as many valid keys as may be: ``BusProtocol/APIKey/bound``.
    case tooMany
}

/// The table `api_keys`. Every method throws ``PostgresError``.
package struct APIKeyStore: Sendable {
    /// A row `k` as lists show it.
    static let record = """
        json_build_object('id', k.id, 'app', k.app, 'scopes', string_to_array(k.scopes, ' '),
            'requestsPerSecond', k.requests_per_second, 'note', k.note,
            'createdAt', \(RecordListStore.seconds("k.created_at")), 'expiresAt', \(RecordListStore.seconds("k.expires_at")),
            'revokedAt', \(RecordListStore.seconds("k.revoked_at")))::text
        """
    /// The condition that a key may be used.
    private static let isValid = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The valid key with this id; nil when there is none, or when it is revoked or has expired.
    package func find(_ id: String) async throws(PostgresError) -> APIKey? {
        let rows = try await pool.query(
            """
            SELECT id, app, digest, scopes, requests_per_second, extract(epoch FROM expires_at)::bigint AS expiry
            FROM api_keys WHERE id = $1 AND \(Self.isValid)
            """, [.text(id)], within: pool.configuration.actTimeout)
        return try rows.first.map { row throws(PostgresError) in try Self.key(row) }
    }

    /// The number of keys that are neither revoked nor expired.
    package func validCount() async throws(PostgresError) -> Int64 {
        let rows = try await pool.query("SELECT count(*) AS keys FROM api_keys WHERE \(Self.isValid)")
        return try rows.first?.int64("keys") ?? 0
    }

    /// Stores a new key; one that is stored already, by an earlier attempt, stays as it is.
    package func create(
        _ key: APIKey, note: String, by cause: AuditCause? = nil
    ) async throws(PostgresError) -> APIKeyCreation {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$8")), found AS (
                SELECT $2::text IS NULL OR EXISTS (SELECT FROM apps WHERE apps.id = $2) AS app,
                    (SELECT count(*) FROM api_keys WHERE id <> $1 AND \(Self.isValid)) < $9::bigint AS room),
            created AS (
                INSERT INTO api_keys AS k (id, app, digest, scopes, requests_per_second, note, expires_at)
                SELECT $1, $2, $3, $4, $5::integer, $6, to_timestamp($7::bigint) FROM cause, found WHERE found.app AND found.room
                ON CONFLICT (id) DO UPDATE SET note = k.note WHERE k.digest = EXCLUDED.digest
                RETURNING \(Self.record) AS record)
            SELECT f.app, f.room, c.record FROM found f LEFT JOIN created c ON true
            """,
            [
                .text(key.id), .optional(key.app?.rawValue), .text(key.digest), .text(key.scopes.text),
                .int(Int64(key.requestsPerSecond)), .text(note), key.expiry.map { .int($0) } ?? .null,
                .optional(cause?.text), .int(Int64(APIKey.bound)),
            ], within: pool.configuration.changeTimeout)
        guard let row = rows.first else { throw PostgresError(.shape, "nothing is known of the new key") }
        guard try row.bool("app") else { return .unknownApp }
        guard try row.bool("room") else { return .tooMany }
        guard let record = try row.optionalString("record") else {
            throw PostgresError(.shape, "another key has the same id")
        }
        return .created(record: record)
    }

    /// Revokes a key; one that is revoked already stays so.
    /// - Returns: false when there is no key with this id.
    package func revoke(_ id: String, by cause: AuditCause? = nil) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            WITH \(AuditCause.setting("$2"))
            UPDATE api_keys k SET revoked_at = coalesce(k.revoked_at, now()) FROM cause WHERE k.id = $1
            """, [.text(id), .optional(cause?.text)], within: pool.configuration.changeTimeout
        ).affected == 1
    }

    private static func key(_ row: PostgresRow) throws(PostgresError) -> APIKey {
        let app: AppID?
        do {
            app = try row.optionalString("app").map { name throws(SignalingError) in try AppID(name) }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.shape, "the table api_keys contains an invalid app id")
        }
        return APIKey(
            id: try row.string("id"), digest: try row.string("digest"), app: app,
            scopes: APIScopes(text: try row.string("scopes")),
            requestsPerSecond: Int(try row.int64("requests_per_second")), expiry: try row.optionalInt64("expiry"))
    }
}
