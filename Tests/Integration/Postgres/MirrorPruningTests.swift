import PostgresStore
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
}
