import BusProtocol
import ClusterState
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import PresenceServer

/// PostgreSQL's copies of Redis data are pruned, so that they do not grow without bound.
@Suite struct MirrorPruningTests {
    @Test(.timeLimit(.minutes(1))) func rowsGoAsFastAsTheyCome() async throws {
        try await ServicesStage.run(instances: 1) { stage in
            // More rows than one pruning step deletes.
            _ = try await stage.pool.query(
                """
                INSERT INTO channel_members (app, channel, account, present, version, uid, joined_at, updated_at)
                SELECT 'app', 'room', 'member' || number, false, 1, 1, now(), now() - interval '1 day'
                FROM generate_series(1, 45000) AS number
                """)
            let gateway = try await stage.gateway("g1")
            var number = 0
            try await waitUntil("old rows to go", within: .seconds(30)) {
                // They are looked for when somebody comes.
                number += 1
                _ = try await stage.login("alice\(number)", on: gateway)
                let rows = try await stage.pool.query("SELECT count(*)::text AS line FROM channel_members")
                return try rows[0].string("line") == "0" ? nil : "\(try rows[0].string("line")) rows"
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func mirrorsThatAreOffAreNotWritten() async throws {
        try await ServicesStage.run(instances: 1, mirrors: false) { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            let bob = try await stage.login("bob", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: bob.actor, channel: room.name))
            _ = try await gateway.send(LeaveChannel(actor: bob.actor, channel: room.name, reason: .leaveByUser))
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: alice.line.user, session: alice.line.session))
            _ = try await gateway.send(
                CloseSession(user: bob.line.user, session: bob.line.session, reason: .leaveLogout))
            for service in [ServiceName.presence, .channelState] {
                try await waitUntil("the stream, which its consumer creates") {
                    try await stage.redis("EXISTS", KeySpace.mirror(service)).int == 1 ? nil : "none"
                }
                let facts = try await stage.redis("XINFO", "STREAM", KeySpace.mirror(service)).array ?? []
                let added = try #require(facts.firstIndex { $0.string == "entries-added" })
                #expect(facts[added + 1].int == 0, "\(service)")
            }
        }
    }

    @Test func whenMirrorsAreOffTheirRowsGoAfterAnHour() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        try await pool.query(
            """
            INSERT INTO presence_sessions
                (app, account, present, version, uid, session, gateway, device, detached, since, updated_at)
            SELECT 'app', 'user' || hours, true, 1, 1, 's', 'g', 'd', false, now(), now() - make_interval(hours => hours)
            FROM generate_series(0, 2) AS hours
            """)
        let store = MirrorStore(pool: pool)
        // As long as mirrors are on, a session may last for days.
        #expect(try await store.prune() == 0)
        try await MirrorRemoval(store: store).round {}
        let left = try await pool.query("SELECT account FROM presence_sessions")
        #expect(try left.map { try $0.string("account") } == ["user0"])
        await pool.close()
    }
}
