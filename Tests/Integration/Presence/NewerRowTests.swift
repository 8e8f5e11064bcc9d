import BusProtocol
import ClusterBus
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// During an upgrade, processes of the newer release write rows of the mirrors with causes
/// that this release does not know.
@Suite struct NewerRowTests {
    /// Adds a field to a row's bytes as the newer release would.
    private func record(
        _ row: some FieldCodable, cause: String, in stream: String, _ stage: ServicesStage
    ) async throws {
        var writer = FieldWriter()
        row.write(to: &writer)
        writer.put("cause", cause)
        writer.put("reason", 98_765)
        writer.put("creates", "half")
        let command = RedisCommand("XADD", .string(stream), "*", "r", .bytes(writer.encoded))
        _ = try await stage.connection.execute(command)
    }

    private func names(_ sql: String, _ stage: ServicesStage) async throws -> [String] {
        try await stage.pool.query(sql).map { try $0.string("name") }
    }

    @Test func theyAreCopiedAllTheSame() async throws {
        try await ServicesStage.run(instances: 1) { stage in
            let user = try stage.user("newcomer")
            let actor = Actor(user: user, uid: 7, session: SessionID("s"))
            let gateway = try await stage.gateway("g1")
            let now = try await stage.connection.time()
            try await record(
                PresenceMirrorRow(
                    of: actor, version: now.milliseconds * 1000, gateway: gateway.id, device: "web", since: now),
                cause: "woken", in: "mirror:presence", stage)
            try await waitUntil("the session's copy") {
                let names = try await names("SELECT account AS name FROM presence_sessions WHERE present", stage)
                return names == ["newcomer"] ? nil : "\(names)"
            }
            try await record(
                MemberMirrorRow(
                    of: Member(account: user.account, uid: 7),
                    in: ChannelKey(app: user.app, name: try ChannelName("room")), version: now.milliseconds * 1000,
                    present: true, joinedAt: now),
                cause: "carried", in: "mirror:channel-state", stage)
            try await waitUntil("the member's copy") {
                let names = try await names("SELECT account AS name FROM channel_members WHERE present", stage)
                return names == ["newcomer"] ? nil : "\(names)"
            }
        }
    }
}
