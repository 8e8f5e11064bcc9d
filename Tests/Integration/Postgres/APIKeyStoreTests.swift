import BusProtocol
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

@Suite struct APIKeyStoreTests {
    private func key(_ id: String, app: AppID?, expiry: Int64? = nil) -> APIKey {
        APIKey(
            id: id, digest: String(repeating: "d", count: 64), app: app, scopes: APIScopes([.send, .read]),
            requestsPerSecond: 7, expiry: expiry)
    }

    @Test func onlyValidKeysAreFound() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let (store, apps) = (APIKeyStore(pool: pool), AppStore(pool: pool))
        let app = try AppID("app")
        try await apps.create(id: app, certificate: "c", tokenRequired: true)
        let own = key("00000000000000a1", app: app, expiry: 4_000_000_000)
        let cluster = key("00000000000000a2", app: nil)
        let expired = key("00000000000000a3", app: nil, expiry: 1)
        for made in [own, cluster, expired] { #expect(try await store.create(made, note: "n")?.key == made) }
        #expect(try await store.create(key("00000000000000a4", app: try AppID("none")), note: "") == nil)
        #expect(try await store.find(own.id) == own)
        #expect(try await store.find(cluster.id) == cluster)
        #expect(try await store.find(expired.id) == nil)
        #expect(try await store.find("00000000000000a4") == nil)

        #expect(try await store.revoke(cluster.id))
        #expect(try await store.revoke(cluster.id))
        #expect(try await !store.revoke("00000000000000a4"))
        #expect(try await store.find(cluster.id) == nil)
        #expect(try await store.list().map { $0.revokedAt != nil } == [false, true, false])
        #expect(try await store.list(app: app).map(\.key) == [own])

        // An app takes its keys with it.
        #expect(try await apps.remove(app))
        #expect(try await store.list().map(\.key.id) == [cluster.id, expired.id])
        await pool.close()
    }
}
