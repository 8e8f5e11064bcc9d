import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct ChannelReplayTests {
    /// The bytes that a replay adds for what surrounds an event's text.
    private static let overhead = 256

    private func event(_ id: Int64, _ kind: ChannelEvent.Kind) throws -> ChannelEvent {
        ChannelEvent(sequence: id, id: id, account: try Account("bob"), uid: 2, kind: kind)
    }

    private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes - Self.overhead) }

    private func replay(_ events: [ChannelEvent]) -> ChannelReplay {
        let last = ChannelPosition(sequence: 9, id: 9)
        return ChannelReplay(
            ChannelLogPage(events: events, latest: last, complete: true, through: last, more: false), last: nil)
    }

    @Test func aWriteHoldsAsManyEventsAsFit() throws {
        let events = try (Int64(1)...4).map { try event($0, .message(text(32_768))) }
        var replay = replay(events)
        #expect(replay.takeNext() == Array(events[..<2]))
        #expect(replay.takeNext() == Array(events[2...]))
        #expect(replay.takeNext() == [])
    }

    @Test func anAttributesValueCountsLikeAMessage() throws {
        let attribute = Attribute(name: try AttributeName("a"), value: text(65_536))
        let events = [try event(1, .attributes(.update(attribute))), try event(2, .joined)]
        var replay = replay(events)
        #expect(replay.takeNext() == [events[0]])
        #expect(replay.takeNext() == [events[1]])
    }

    @Test func anEventLargerThanAWriteIsWrittenAlone() throws {
        let events = [try event(1, .message(text(65_537))), try event(2, .joined)]
        var replay = replay(events)
        #expect(replay.takeNext() == [events[0]])
        #expect(replay.takeNext() == [events[1]])
    }

    @Test func liveEventsFollowTheLogsLatestOrTheFeed() throws {
        let feed = ChannelPosition(sequence: 5, id: 5)
        #expect(replay([]).activeAfter == ChannelPosition(sequence: 9, id: 9))
        #expect(ChannelReplay(nil, last: feed).activeAfter == feed)
    }
}
