import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The call log after Redis lost its data, and over the years.
@Suite struct InvitationLogTests {
    @Test func callsThatRedisForgotEndAndTheirPartiesAreTold() async throws {
        try await InvitationStage.run { stage in
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            let (carol, dave) = (try await stage.login("carol"), try await stage.login("dave"))
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.act(.invite, by: carol, to: "dave")
            try await stage.act(.acknowledge, by: dave, to: "carol")
            try await stage.expectLog(["bob live acknowledged accepted", "dave live acknowledged"])
            _ = try await stage.connection.execute(RedisCommand("FLUSHDB"))
            for name in ["alice", "bob", "carol", "dave"] { _ = try await stage.login(name) }
            try await stage.expectMail(of: "alice", ["voip_invite_bye"])
            try await stage.expectMail(of: "bob", ["voip_invite_bye"])
            try await stage.expectMail(of: "carol", ["voip_invite_failed"])
            try await stage.expectMail(of: "dave", ["voip_invite_bye"])
            #expect(try await stage.mail(of: "carol").last?.extra == #"{"code":702,"reason":"lost"}"#)
            try await stage.expectLog(["bob 702 acknowledged accepted", "dave 702 acknowledged"])
        }
    }

    @Test func anEndThatWasToldIsNotToldAgainWhenRedisForgotIt() async throws {
        let server = try await PostgresServer()
        try await InvitationStage.run(postgres: server) { stage in
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.expectLog(["bob live acknowledged accepted"])
            // The end is told, but its entry of the log does not get to PostgreSQL before Redis loses it.
            try await server.stop()
            try await stage.act(.end, by: bob, to: "alice")
            try await stage.expectMail(of: "alice", ["voip_invite_accept", "voip_invite_bye"])
            try await stage.redis.kill()
            try await stage.redis.start()
            try await server.start()
            for name in ["alice", "bob"] {
                try await waitUntil("a session") { (try? await stage.login(name)) == nil ? "not yet" : nil }
            }
            try await stage.expectLog(["bob 0 acknowledged accepted"])
            try await letPass(.seconds(5), "the log is compared with the calls again")
            for name in ["alice", "bob"] { #expect(try await stage.mail(of: name) == []) }
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
        try await server.remove()
    }

    @Test func callsThatLiveAreLeftAlone() async throws {
        try await InvitationStage.run(instances: 2) { stage in
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.expectLog(["bob live acknowledged accepted"])
            let looked = "reconcile:invitation"
            for _ in 0..<3 {
                try await waitUntil("the look") {
                    try await stage.connection.execute(RedisCommand("DEL", .string(looked))).int == 1 ? nil : "none"
                }
            }
            try await stage.expectLog(["bob live acknowledged accepted"])
            try await stage.act(.end, by: bob, to: "alice")
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
    }

    @Test func aCallThatIsPrunedWhileItLastsIsLoggedWholeAtItsEnd() async throws {
        try await InvitationStage.run { stage in
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.expectLog(["bob live acknowledged accepted"])
            try await stage.pool.query("UPDATE calls SET started_at = now() - interval '40 days'")
            #expect(try await CallStore(pool: stage.pool).prune(olderThanDays: 30, limit: 10) == 1)
            try await stage.expectLog([])
            try await stage.act(.end, by: bob, to: "alice")
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
    }

    @Test func callsOfLongAgoGoInSteps() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query(
            """
            INSERT INTO calls (app, id, channel, caller, callee, kind, direction, started_at, ended_at, end_code)
            SELECT 'a', n::text, 'c', 'x', 'y', 'user', 'internal', now() - make_interval(days => n), now(), 0
            FROM generate_series(1, 10) n
            """)
        let store = CallStore(pool: pool)
        #expect(try await store.prune(olderThanDays: 5, limit: 4) == 4)
        #expect(try await store.prune(olderThanDays: 5, limit: 4) == 2)
        #expect(try await store.prune(olderThanDays: 5, limit: 4) == 0)
        #expect(try await pool.query("SELECT id FROM calls").count == 4)
        await pool.close()
    }
}
