import BusProtocol
import GatewayLogic
import SignalingProtocol
import Testing

@testable import GatewayServer

@Suite struct LocalChannelTests {
    private func channel() throws -> LocalChannel {
        LocalChannel(key: ChannelKey(app: try AppID("app"), name: try ChannelName("room")))
    }

    @Test func oneSubscriptionForAllWhoWait() throws {
        let channel = try channel()
        #expect(channel.beginsSubscription())
        #expect(!channel.beginsSubscription())
        var told: [Bool] = []
        for _ in 0..<2 { channel.whenSubscribed { told.append($0) } }
        #expect(channel.hasWaiters)
        channel.subscribed(true)
        channel.whenSubscribed { told.append($0) }
        #expect(told == [true, true, true])
        #expect(!channel.beginsSubscription())
    }

    @Test func oneThatFailedIsAskedForAgain() throws {
        let channel = try channel()
        #expect(channel.beginsSubscription())
        var told: [Bool] = []
        channel.whenSubscribed { told.append($0) }
        channel.subscribed(false)
        // No subscription is under way, so the answer comes at once.
        channel.whenSubscribed { told.append($0) }
        #expect(told == [false, false])
        #expect(channel.beginsSubscription())
        channel.whenSubscribed { told.append($0) }
        channel.subscribed(true)
        #expect(told == [false, false, true])
    }

    /// In a cluster, the answer to a leave may come before events that were published earlier.
    @Test func anAnswerWaitsForEarlierEvents() async throws {
        let client = try await EmbeddedClient()
        let key = try channel().key
        try await client.onLoop { shard in
            let channel = LocalChannel(key: key)
            channel.feed.joined(at: ChannelPosition(sequence: 4, id: 4))
            var told: [Int64] = []
            channel.whenWritten(through: 4, on: shard) { told.append(4) }
            #expect(told == [4], "nothing is missing")
            channel.whenWritten(through: 6, on: shard) { told.append(6) }
            for sequence in Int64(5)...7 {
                let event = ChannelEvent(
                    sequence: sequence, id: sequence, account: try Account("a"), uid: 1, kind: .message("hello"))
                guard case .deliver(let events) = channel.feed.received(event) else {
                    Issue.record("the event is not delivered")
                    return
                }
                _ = channel.collect(events)
                #expect(told == (sequence == 7 ? [4, 6] : [4]), "event \(sequence) is not written yet")
                if sequence == 7 { channel.whenWritten(through: 7, on: shard) { told.append(7) } }
                channel.endCollecting(on: shard)
            }
            #expect(told == [4, 6, 7])
        }
    }
}
