import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer

/// Compares PostgreSQL's copy of the members with a real Redis that has lost some of them.
@Suite struct MemberMirrorCheckTests {
    /// A channel with Alice and Bob, whose events the gateway hears, once both are in PostgreSQL's copy.
    private func roomOfTwo(
        _ stage: ServicesStage
    ) async throws -> (gateway: StageGateway, room: ChannelKey, alice: StageSession, bob: StageSession) {
        let gateway = try await stage.gateway("g1")
        let room = try stage.channel("room")
        try await gateway.listen(to: room)
        let (alice, bob) = (try await stage.login("alice", on: gateway), try await stage.login("bob", on: gateway))
        for session in [alice, bob] {
            _ = try await gateway.send(JoinChannel(actor: session.actor, channel: room.name, moveNumber: 1))
        }
        try await expectMembers(["alice", "bob"], stage)
        return (gateway, room, alice, bob)
    }

    private func expectMembers(_ accounts: [String], _ stage: ServicesStage) async throws {
        try await stage.expectRows("SELECT account AS line FROM channel_member_list ORDER BY 1", accounts)
    }

    /// Makes all rows so old that a difference from Redis counts.
    private func age(_ stage: ServicesStage) async throws {
        _ = try await stage.pool.query("UPDATE channel_members SET updated_at = updated_at - interval '1 hour'")
    }

    /// Does one round of the check.
    private func check(_ stage: ServicesStage) async throws {
        let reassertion = stage.reassertion
        let uptime = RedisUptime(connection: stage.connection)
        let asking = Task { try await uptime.run() }
        try await waitUntil("an answer") { await uptime.since(ofSlot: 0) == nil ? "none" : nil }
        let check = MemberMirrorCheck(
            functions: reassertion.functions, store: MirrorStore(pool: stage.pool), reassertion: reassertion,
            uptime: uptime, settling: .zero)
        try await check.round {}
        asking.cancel()
        _ = try await asking.value
    }

    @Test func aMemberThatRedisForgotHasLeft() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice, _) = try await roomOfTwo(stage)
            _ = try await stage.redis("FLUSHALL")
            _ = try await gateway.send(
                ReassertSessions(gateway: gateway.id, sessions: [alice.held(moveNumber: 1, channel: room.name)]))
            #expect(
                try await gateway.send(ReassertMembers(channel: room, members: [alice.member])).unknown.isEmpty)
            try await age(stage)
            try await check(stage)
            try await expectMembers(["alice"], stage)
            // The other members are told now, because the leave was lost with the member.
            try await waitUntil("the leave") {
                let heard = gateway.heard(in: room).map(\.summary)
                return heard == ["alice joined", "bob joined", "bob left"] ? nil : "\(heard)"
            }
            #expect(try await gateway.send(CountMembers(channel: room)).count == 1)
        }
    }

    @Test func aMemberWhoseSessionHasEndedLeavesOnceTheRowIsOldEnough() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, _, bob) = try await roomOfTwo(stage)
            _ = try await stage.redis("DEL", UserKeys(bob.line.user).session)
            try await check(stage)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 2, "Redis may just have changed")
            try await age(stage)
            try await check(stage)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 1)
            try await expectMembers(["alice"], stage)
            try await waitUntil("the leave") {
                let heard = gateway.heard(in: room).map(\.summary)
                return heard == ["alice joined", "bob joined", "bob left"] ? nil : "\(heard)"
            }
        }
    }
}
