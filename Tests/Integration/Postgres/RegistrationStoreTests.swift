import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// What sip-bridges tell of their registrations.
@Suite struct RegistrationStoreTests {
    private let pool: PostgresPool
    private let store: RegistrationStore
    private let (anna, bert): (AppID, AppID)

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        store = RegistrationStore(pool: pool)
        (anna, bert) = (try AppID("anna"), try AppID("bert"))
        for app in [anna, bert] {
            try await AppStore(pool: pool).create(id: app, certificate: "c", tokenRequired: true)
            var trunk = SIPTrunk(app: app, host: "192.0.2.1")
            (trunk.authUser, trunk.secret, trunk.register) = ("u", "s", true)
            try await TrunkStore(pool: pool).set(trunk)
        }
    }

    private func note(
        _ app: AppID, _ state: SIPRegistration.State, _ status: Int? = nil, for seconds: Int64 = 60
    ) -> RegistrationNote {
        RegistrationNote(app: app, state: state, status: status, remaining: .seconds(seconds))
    }

    private func standings() async throws -> [String] {
        try await store.list().map { "\($0.app) \($0.bridge) \($0.state) \($0.status ?? 0)" }
    }

    @Test func eachBridgeHasItsOwn() async throws {
        try await store.tell([note(anna, .registered), note(bert, .refused, 403)], of: "one")
        try await store.tell([note(anna, .unanswered)], of: "two")
        #expect(
            try await standings() == ["anna one registered 0", "anna two unanswered 0", "bert one refused 403"])
        #expect(try await store.list(app: bert).map(\.bridge) == ["one"])
        try await store.forget([anna, bert], of: "one")
        #expect(try await standings() == ["anna two unanswered 0"])
        try await store.tell([], of: "two")
        try await store.forget([], of: "two")
        #expect(try await standings() == ["anna two unanswered 0"])
    }

    @Test func sinceStaysWhileNothingChanges() async throws {
        try await store.tell([note(anna, .registered)], of: "one")
        try await pool.query("UPDATE sip_registrations SET since = to_timestamp(1700000000)")
        let first = try #require(try await store.list().first)
        try await store.tell([note(anna, .registered, for: 3600)], of: "one")
        let second = try #require(try await store.list().first)
        #expect(second.since == 1_700_000_000_000)
        #expect(try #require(second.until) > #require(first.until) + 3_000_000)
        try await store.tell([note(anna, .refused, 403)], of: "one")
        let third = try #require(try await store.list().first)
        #expect(third.since > second.since && third.until == nil)
        try await pool.query("UPDATE sip_registrations SET since = to_timestamp(1700000000)")
        // Another status is another reason.
        try await store.tell([note(anna, .refused, 404)], of: "one")
        #expect(try #require(try await store.list().first).since > second.since)
    }

    @Test func nothingHoldsLongerThanItWasToldFor() async throws {
        try await store.tell([note(anna, .registered), note(bert, .refused, 403)], of: "killed")
        try await pool.query("UPDATE sip_registrations SET ends_at = now() - interval '1 second'")
        #expect(try await standings() == [])
        let unknown = try await pool.query(
            "SELECT app FROM trunk_registrations WHERE state = 'unknown' AND bridge IS NULL")
        #expect(unknown.count == 2)
        // The others delete it, in time.
        try await store.tell([note(anna, .registered)], of: "one")
        #expect(try await pool.query("SELECT FROM sip_registrations").count == 3)
        try await pool.query(
            "UPDATE sip_registrations SET ends_at = now() - interval '2 hours' WHERE bridge = 'killed'")
        try await store.tell([note(anna, .registered)], of: "one")
        #expect(try await pool.query("SELECT FROM sip_registrations").count == 1)
    }

    @Test func trunksThatAreGoneOrDoNotRegisterAreLeftOut() async throws {
        try await store.tell([note(anna, .registered), note(bert, .registered)], of: "one")
        _ = try await TrunkStore(pool: pool).remove(anna)
        try await store.tell([note(anna, .registered)], of: "one")
        #expect(try await standings() == ["bert one registered 0"])
        try await TrunkStore(pool: pool).set(SIPTrunk(app: bert, host: "192.0.2.1"))
        #expect(try await standings() == [])
    }
}
