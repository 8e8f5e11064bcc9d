import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import GatewayServer

@Suite struct ShardRenewalTests {
    /// As while the topics of a third of all slots are renewed, in many reads of sockets.
    @Test(.timeLimit(.minutes(1))) func renewalsOfAMomentAreHandledTogether() async throws {
        let gateway = try Gateway()
        let room = ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
        let slot = KeySpace.slot(of: .channel(room))
        gateway.onLoop { shard in
            _ = shard.channel(room)
            for other in UInt16(0)..<1000 { shard.resynchronize(.slots([slot, other])) }
        }
        #expect(gateway.count(of: "reasserting sessions") == 0, "nothing is done before")
        try await waitUntil("the renewals to be handled") {
            gateway.count(of: "reasserting sessions") > 0 ? nil : "nothing"
        }
        #expect(gateway.count(of: "reasserting sessions") == 1)
    }

    @Test(.timeLimit(.minutes(1))) func whatMovesElsewhereIsNotLookedAt() async throws {
        let gateway = try Gateway()
        let room = ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
        let slot = KeySpace.slot(of: .channel(room))
        gateway.onLoop { shard in
            _ = shard.channel(room)
            #expect(shard.channels(in: .slots([slot])).map(\.key) == [room])
            #expect(shard.channels(in: .slots([slot ^ 1])).isEmpty)
            #expect(shard.sessions(in: .all).isEmpty)
            if let channel = shard.channels[room] {
                channel.subscribed(false)
                shard.releaseIfEmpty(channel)
            }
            #expect(shard.channels(in: .slots([slot])).isEmpty)
        }
    }
}
