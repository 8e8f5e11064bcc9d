import BusProtocol
import PostgresStore
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@Suite struct APIKeyStoreTests {
    private let pool: PostgresPool
    private let store: APIKeyStore
    private let app: AppID

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        store = APIKeyStore(pool: pool)
        app = try AppID("app")
        try await AppStore(pool: pool).create(id: app, certificate: "c", tokenRequired: true)
    }

    private func key(_ id: String, app: AppID?, expiry: Int64? = nil) -> APIKey {
        APIKey(
            id: id, digest: String(repeating: "d", count: 64), app: app, scopes: APIScopes([.send, .read]),
            requestsPerSecond: 7, expiry: expiry)
    }

    private func listed(_ app: AppID? = nil, after: String = "", limit: Int = 100) async throws -> [JSONValue] {
        let page = try await RecordListStore(pool: pool).page(
            ListRecords(.keys, app: app, after: after, limit: limit))
        guard case .array(let records) = try JSONValue.parse(page.records.utf8) else { return [] }
        return records
    }

    @Test func onlyValidKeysAreFound() async throws {
        let own = key("00000000000000a1", app: app, expiry: 4_000_000_000)
        let cluster = key("00000000000000a2", app: nil)
        let expired = key("00000000000000a3", app: nil, expiry: 1)
        for made in [own, cluster, expired] {
            guard case .created(let record) = try await store.create(made, note: "n") else {
                Issue.record("\(made.id) was not made")
                continue
            }
            #expect(try JSONValue.parse(record.utf8)["id"]?.string == made.id)
        }
        #expect(try await store.create(key("00000000000000a4", app: try AppID("none")), note: "") == .unknownApp)
        #expect(try await store.find(own.id) == own)
        #expect(try await store.find(cluster.id) == cluster)
        #expect(try await store.find(expired.id) == nil)
        #expect(try await store.find("00000000000000a4") == nil)

        #expect(try await store.revoke(cluster.id))
        #expect(try await store.revoke(cluster.id))
        #expect(try await !store.revoke("00000000000000a4"))
        #expect(try await store.find(cluster.id) == nil)
        #expect(try await listed().map { $0["revokedAt"] != .null } == [false, true, false])
        #expect(try await listed(app).map { $0["id"]?.string } == [own.id])

        // An app takes its keys with it.
        #expect(try await AppStore(pool: pool).remove(app))
        #expect(try await listed().map { $0["id"]?.string } == [cluster.id, expired.id])
        await pool.close()
    }

    @Test func keysAreListedByIDWithoutDigests() async throws {
        for id in ["b", "a", "c"] {
            let made = key(String(repeating: id, count: 16), app: id == "b" ? nil : app, expiry: 4_000_000_000)
            _ = try await store.create(made, note: "n")
        }
        let first = try #require(try await listed(limit: 1).first)
        let created = try #require(first["createdAt"]?.integer)
        #expect(created > 1_700_000_000)
        #expect(
            try first
                == JSONValue.parse(
                    #"""
                    {"id":"aaaaaaaaaaaaaaaa","app":"app","scopes":["read","send"],"requestsPerSecond":7,"note":"n",
                    "createdAt":\#(created),"expiresAt":4000000000,"revokedAt":null}
                    """#.utf8))
        let later = try await listed(after: "aaaaaaaaaaaaaaaa")
        #expect(later.map { $0["app"] } == [.null, .string("app")])
        #expect(try await listed(app, after: "aaaaaaaaaaaaaaaa").count == 1)
        await pool.close()
    }

    /// A command may be handled again when its first answer was lost.
    @Test func aKeyThatIsStoredAlreadyStaysAsItIs() async throws {
        let made = key("00000000000000a1", app: app)
        let first = try await store.create(made, note: "first")
        #expect(try await store.create(made, note: "second") == first)
        let entries = try await pool.query("SELECT count(*) AS n FROM audit_trail WHERE act LIKE 'key.%'")[0]
        #expect(try entries.int64("n") == 1)
        var other = made
        other.digest = String(repeating: "e", count: 64)
        await #expect(throws: PostgresError.self) { try await store.create(other, note: "") }
        #expect(try await store.find(made.id) == made)
        await pool.close()
    }

    @Test func soManyKeysAreValidAtATime() async throws {
        try await pool.query(
            """
            INSERT INTO api_keys (id, digest, scopes, requests_per_second)
            SELECT lpad(to_hex(i), 16, '0'), repeat('d', 64), 'read', 1 FROM generate_series(1, $1::bigint) i
            """, [.int(Int64(APIKey.bound - 1))])
        let last = key("f000000000000000", app: nil)
        #expect(try await store.create(last, note: "") != .tooMany)
        #expect(try await store.create(last, note: "") != .tooMany)
        #expect(try await store.create(key("f000000000000001", app: nil), note: "") == .tooMany)
        #expect(try await store.revoke(last.id))
        #expect(try await store.create(key("f000000000000001", app: nil), note: "") != .tooMany)
        await pool.close()
    }
}
