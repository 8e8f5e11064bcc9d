import PostgresStore
import SignalingProtocol
import TestKit
import Testing

/// Storage of trunks and phone numbers.
@Suite struct PostgresPhoneTests {
    @Test func aTrunkNeedsItsApp() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let trunk = SIPTrunk(app: try AppID("a"), host: "h")
        let error = await #expect(throws: PostgresError.self) { try await TrunkStore(pool: pool).set(trunk) }
        #expect(error?.isMissingReference == true)
        await pool.close()
    }

    /// A database with the apps `a` and `b`.
    private static func poolWithApps() async throws -> PostgresPool {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        for name in ["a", "b"] {
            try await AppStore(pool: pool).create(id: AppID(name), certificate: "c", tokenRequired: false)
        }
        return pool
    }

    @Test func aTrunkComesBackAsItWasSet() async throws {
        let pool = try await Self.poolWithApps()
        let store = TrunkStore(pool: pool)
        let app = try AppID("a")
        #expect(try await store.find(app) == nil)
        for transport in SIPTransport.allCases {
            try await store.set(SIPTrunk(app: app, host: "h", transport: transport))
            #expect(try await store.find(app)?.port == (transport == .tls ? 5061 : 5060))
        }
        var trunk = SIPTrunk(app: app, host: "sip.example.org", port: 5070, transport: .tcp)
        (trunk.authUser, trunk.secret, trunk.fromDomain) = ("u", "s'--", "example.org")
        (trunk.register, trunk.acceptDigest, trunk.trace, trunk.isOfOpenApp) = (true, true, true, true)
        (trunk.dtmf, trunk.srtp, trunk.ringTime) = (.info, .required, .seconds(7))
        (trunk.assertedIdentity, trunk.privacy) = ("sip:+4930@example.org", "id")
        for numbers in [PhonePolicy.Numbers.unsaid, .any, .listed([]), .listed(["+49", "110"])] {
            (trunk.policy.callees, trunk.policy.callers) = (numbers, numbers)
            try await store.set(trunk)
            #expect(try await store.find(app)?.policy == trunk.policy)
        }
        trunk.policy.callsPerUser = 0
        trunk.policy.newCallsPerUser = 1
        trunk.policy.callsPerApp = 2
        trunk.policy.newCallsPerApp = 3
        trunk.policy.longestCall = .seconds(4)
        try await store.set(trunk)
        let found = try #require(try await store.find(app))
        #expect(found.updatedAt > 1_600_000_000_000)
        trunk.updatedAt = found.updatedAt
        #expect(found == trunk)
        await pool.close()
    }

    @Test func trunksAreListedAndRemoved() async throws {
        let pool = try await Self.poolWithApps()
        let store = TrunkStore(pool: pool)
        let app = try AppID("a")
        try await store.set(SIPTrunk(app: app, host: "h"))
        for (dtmf, srtp) in zip(SIPTrunk.DTMF.allCases, SIPTrunk.SRTP.allCases) {
            var other = SIPTrunk(app: try AppID("b"), host: "h")
            (other.dtmf, other.srtp) = (dtmf, srtp)
            try await store.set(other)
        }
        #expect(try await store.list().map(\.app.rawValue) == ["a", "b"])
        #expect(try await store.remove(app))
        #expect(try await !store.remove(app))
        // Removing an app removes its trunk.
        #expect(try await AppStore(pool: pool).remove(AppID("b")))
        #expect(try await store.list() == [])
        await pool.close()
    }

    @Test func numbers() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let store = NumberStore(pool: pool)
        let alice = UserKey(app: try AppID("a"), account: try Account("alice"))
        let bob = UserKey(app: try AppID("a"), account: try Account("bob"))
        let other = UserKey(app: try AppID("b"), account: try Account("bob"))
        #expect(try await !store.set("+49", to: alice), "no such app")
        for name in ["a", "b"] {
            try await AppStore(pool: pool).create(id: AppID(name), certificate: "c", tokenRequired: false)
        }
        #expect(try await store.set("+49", to: alice))
        #expect(try await store.find("+49")?.user == alice)
        #expect(try await store.find("49") == nil)
        #expect(try await store.set("+49", to: bob))
        #expect(try await !store.set("+49", to: other), "another app's")
        #expect(try await store.find("+49")?.user == bob)
        #expect(try await store.set("110", to: other))
        #expect(try await store.list().map(\.number) == ["+49", "110"])
        #expect(try await store.list(app: AppID("b")).map(\.number) == ["110"])
        #expect(try await store.remove("110"))
        #expect(try await !store.remove("110"))
        await pool.close()
    }
}
