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
}
