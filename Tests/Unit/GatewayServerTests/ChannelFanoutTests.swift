import NIOCore
import Pacing
import SignalingProtocol
import SignalingWire
import Synchronization
import Testing
import WebSocketWire

@testable import GatewayServer

/// A channel's events on their way to the sockets of its members.
@Suite struct ChannelFanoutTests {
    /// So many that the ring is used.
    private static let count = 12
    /// The member at whose socket the ring fails.
    private static let lost = 4

    /// Nobody knows how much of the event it has got: what follows could only be torn, or come twice.
    @Test func aMemberWhoseSendIsNotCompletedIsClosedAtOnce() async throws {
        let key = ChannelKey(app: try AppID("app"), name: try ChannelName("room"))
        let account = try Account("a")
        let events = (Int64(1)...3).map {
            ChannelEvent(sequence: $0, id: $0, account: account, uid: 1, kind: .message("event \($0)"))
        }
        let frames = events.map { Self.frame(of: $0, in: key.name) }
        let all = frames.flatMap { $0 }
        let gateway = try Gateway(connectionBound: Self.count)
        let heard = Mutex<[[UInt8]]>([])
        _ = try await gateway.answers { _ in
            let members = (0..<Self.count).map { _ in gateway.client() }
            for member in members { member.open(Gateway.request(path: "/")) }
            gateway.onLoop { shard in Self.write(events, in: key, on: shard) }
            // Of the one that is closed, it is less.
            for member in members { member.take(all.count) }
            heard.withLock { $0 = members.map(\.text) }
            for member in members { member.close() }
        }
        let texts = heard.withLock { $0 }
        #expect(texts.count { $0 == all } == Self.count - 1, "the others have each event once, in order")
        #expect(texts.contains(frames[0] + frames[1].prefix(FailingRing.accepted)), "nothing more was sent to this one")
    }

    /// Makes all clients of the shard members, and writes the events one by one. The first one opens the lanes, and the
    /// ring fails at the second one.
    private static func write(
        _ events: [SignalingProtocol.ChannelEvent], in key: ChannelKey, on shard: isolated GatewayShard
    ) {
        let members = Array(shard.connections.values)
        let channel = LocalChannel(key: key, longestPause: LocalTime.Span(nanoseconds: 0))
        for member in members {
            member.channel = channel
            channel.fanout.add(member, as: events[0].account)
            channel.fanout.showAll(after: 0, to: member)
        }
        channel.fanout.write([events[0]], on: shard)
        #expect(members.count == count && members.allSatisfy { $0.outlet.lane != nil })
        do {
            try shard.lanes.makeRing(sending: FailingRing.sending(losing: lost))
        } catch {
            Issue.record("no io_uring: \(error)")
        }
        channel.fanout.write([events[1]], on: shard)
        #expect(shard.lanes.ring == nil, "the second event went by the ring, which has failed")
        #expect(members.indices.filter { members[$0].isClosed } == [lost])
        // It is still a member: its session, which has never logged in, knows of no channel that it would leave.
        channel.fanout.write([events[2]], on: shard)
        for member in members {
            channel.fanout.remove(member)
            member.channel = nil
        }
    }

    private static func frame(of event: SignalingProtocol.ChannelEvent, in room: ChannelName) -> [UInt8] {
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.text, ServerFrame.channelEvent(event, channel: room, id: event.id))
        return Array(frame.readableBytesView)
    }
}
