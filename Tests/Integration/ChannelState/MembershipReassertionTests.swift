import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer

/// Reassertions of members that cross joins and leaves.
@Suite struct MembershipReassertionTests {
    private static let gone: [String] = []

    /// A leave removes the member and then corrects the session's record. In a cluster much can happen in between.
    @Test func aMemberThatIsRestoredDuringItsLeaveIsRemovedAgain() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            let id = CommandID("leave")
            _ = try await stage.reassertion.functions.leave(alice.actor, room, id, deadline: nil)
            let answer = try await gateway.send(ReassertMembers(channel: room, members: [alice.member]))
            #expect(answer.unknown.isEmpty)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 1)
            // The second step, twice: its process has died before it could remove the member.
            let leave = LeaveChannel(actor: alice.actor, channel: room.name, reason: .leaveByUser, moveNumber: 2)
            let exit = ChannelFunctions.exit(alice.actor, room.name, moveNumber: 2)
            #expect(ChannelFunctions.isRestored(try await stage.connection.execute(exit)))
            _ = try await stage.membership.leave(leave, CommandContext(id: id))
            #expect(try await gateway.send(CountMembers(channel: room)).count == 0)
            #expect(try await stage.sessionField("alice", "restored") == nil)
            try await stage.expectRows("SELECT account AS line FROM channel_member_list", Self.gone)
            _ = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name, moveNumber: 3))
            try await waitUntil("the next join is told") {
                let heard = gateway.heard(in: room).map(\.summary)
                return heard == ["alice joined", "alice left", "alice joined"] ? nil : "\(heard)"
            }
        }
    }

    @Test func aMemberThatWasRestoredLeavesOnce() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            _ = try await stage.redis("DEL", ChannelKeys(room).memberInfo, KeySpace.tag(room) + ":members")
            _ = try await gateway.send(ReassertMembers(channel: room, members: [alice.member]))
            #expect(try await stage.sessionField("alice", "restored") == room.name.rawValue)
            _ = try await gateway.send(
                LeaveChannel(actor: alice.actor, channel: room.name, reason: .leaveByUser, moveNumber: 2))
            #expect(try await gateway.send(CountMembers(channel: room)).count == 0)
            #expect(try await stage.sessionField("alice", "restored") == nil)
            try await waitUntil("the leave is told") {
                let heard = gateway.heard(in: room).map(\.summary)
                return heard == ["alice joined", "alice left"] ? nil : "\(heard)"
            }
        }
    }
}

extension ServicesStage {
    /// What corrects memberships, outside of an instance.
    nonisolated var reassertion: MembershipReassertion {
        let functions = ChannelFunctions(redis: connection)
        let counters = ChannelCounters(
            functions: functions,
            timers: ServiceTimers(service: .channelState, connection: connection, logger: Self.silent))
        return MembershipReassertion(
            functions: functions,
            attributes: ChannelAttributeCache(functions: functions, store: AttributeStore(pool: pool)),
            timers: counters.timers, counters: counters, logger: Self.silent)
    }

    /// What handles joins and leaves, outside of an instance.
    nonisolated var membership: MembershipHandler {
        let reassertion = reassertion
        return MembershipHandler(
            functions: reassertion.functions, attributes: reassertion.attributes, timers: reassertion.timers,
            counters: reassertion.counters, reassertion: reassertion, logger: Self.silent)
    }
}
