import BusProtocol
import GatewayLogic
import NIOCore
import Pacing
import SignalingProtocol
import Testing

@testable import GatewayServer

@Suite struct LocalChannelTests {
    private static func room() throws -> ChannelKey {
        ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
    }

    private func channel() throws -> LocalChannel {
        LocalChannel(key: try Self.room(), longestPause: LocalTime.Span(.milliseconds(5)))
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
        let key = try Self.room()
        try await client.onLoop { shard in
            let channel = LocalChannel(key: key, longestPause: LocalTime.Span(nanoseconds: 0))
            channel.feed.joined(at: ChannelPosition(sequence: 4, id: 4))
            var told: [Int64] = []
            channel.whenWritten(through: 4, on: shard) { told.append(4) }
            #expect(told == [4], "nothing is missing")
            channel.whenWritten(through: 6, on: shard) { told.append(6) }
            for sequence in Int64(5)...7 {
                let event = SignalingProtocol.ChannelEvent(
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

    // MARK: - Pauses

    /// Runs a test with a client in a channel that was written to a second from now, so that it pauses until the test
    /// lets this time pass.
    private func withMemberOfPausingChannel(_ test: (EmbeddedClient) async throws -> Void) async throws {
        let client = try await EmbeddedClient()
        try await client.onLoop { shard in
            let channel = LocalChannel(key: try Self.room(), longestPause: LocalTime.Span(.milliseconds(5)))
            channel.feed.joined(at: ChannelPosition(sequence: 1, id: 1))
            let member = try #require(shard.connections.values.first)
            member.channel = channel
            channel.fanout.add(member, as: try Account("alice"))
            channel.fanout.showAll(after: 1, to: member)
            channel.pauses.wrote(from: .now, to: LocalTime.now + LocalTime.Span(.seconds(1)))
        }
        try await test(client)
        try await client.onConnection { member, _ in
            member.channel?.fanout.remove(member)
            member.channel = nil
        }
    }

    /// A read of the Redis socket brings events with these sequence numbers.
    private func publish(
        _ kind: SignalingProtocol.ChannelEvent.Kind, _ sequences: Int64..., to client: EmbeddedClient
    ) async throws {
        try await client.onLoop { shard in
            let channel = try #require(shard.connections.values.first?.channel)
            for sequence in sequences {
                let event = SignalingProtocol.ChannelEvent(
                    sequence: sequence, id: sequence, account: try Account("bob"), uid: 2, kind: kind)
                guard case .deliver(let events) = channel.feed.received(event) else {
                    Issue.record("the event is not delivered")
                    return
                }
                _ = channel.collect(events)
            }
            channel.endCollecting(on: shard)
        }
    }

    /// The answer to a leave comes, which was event number `sequence`.
    /// - Returns: whether it is passed on at once.
    private func answerLeave(_ sequence: Int64, to client: EmbeddedClient) async throws -> Bool {
        try await client.onLoop { shard in
            var isTold = false
            shard.connections.values.first?.channel?.whenWritten(through: sequence, on: shard) { isTold = true }
            return isTold
        }
    }

    /// The ids of the events that the client was sent since the last call.
    private func heard(by client: EmbeddedClient) async throws -> [Int] {
        try await client.told().map { frame in
            try #require(frame.firstMatch(of: /"channel2",0,(\d+)/).flatMap { Int($0.1) }, "\(frame)")
        }
    }

    @Test func messagesOfABusyChannelAreWrittenAtTheEndOfItsPause() async throws {
        try await withMemberOfPausingChannel { client in
            try await publish(.message("hello"), 2, to: client)
            try await publish(.message("hello"), 3, 4, to: client)
            #expect(try await heard(by: client) == [])
            await client.pass(.seconds(2))
            #expect(try await heard(by: client) == [2, 3, 4])
            await client.pass(.seconds(2))
            #expect(try await heard(by: client) == [], "nothing is written twice")
        }
    }

    /// A message does not wait for as long as the joins before it, which are written with it.
    @Test func aMessageShortensThePauseOfJoins() async throws {
        try await withMemberOfPausingChannel { client in
            try await publish(.joined, 2, to: client)
            try await publish(.message("hello"), 3, to: client)
            // The joins alone would wait for 250 ms after the write, a message for 5.
            await client.pass(.milliseconds(1100))
            #expect(try await heard(by: client) == [2, 3])
            await client.pass(.seconds(2))
            #expect(try await heard(by: client) == [])
        }
    }

    @Test func whoLeavesReceivesTheMessagesBefore() async throws {
        try await withMemberOfPausingChannel { client in
            try await publish(.message("hello"), 2, to: client)
            #expect(try await answerLeave(2, to: client))
            #expect(try await heard(by: client) == [2])
        }
    }

    /// In a cluster, the answer to a leave may come before them.
    @Test func whoHasLeftReceivesTheMessagesBefore() async throws {
        try await withMemberOfPausingChannel { client in
            #expect(try await !answerLeave(3, to: client))
            try await publish(.message("hello"), 2, to: client)
            #expect(try await heard(by: client) == [2])
        }
    }
}
