import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayAPILogic

@Suite struct HistoryPageTests {
    private func event(_ id: Int64, _ kind: ChannelEvent.Kind) throws -> ChannelEvent {
        ChannelEvent(sequence: id, id: id, account: try Account("ann"), uid: 7, kind: kind)
    }

    private func part(_ events: [ChannelEvent], more: Bool, complete: Bool = true) -> ChannelLogPage {
        let last = ChannelPosition(sequence: events.last?.sequence ?? 0, id: events.last?.id ?? 0)
        return ChannelLogPage(events: events, latest: last, complete: complete, through: last, more: more)
    }

    @Test func aPageIsPutTogetherOfParts() throws {
        var page = HistoryPage(onlyMessages: true, in: HistoryRange(isDescending: false), limit: 2)
        #expect(page.position == ChannelPosition(sequence: 0, id: 0))
        let first = [try event(1, .joined), try event(2, .message("a"))]
        var goesOn = page.take(part(first, more: true))
        #expect(goesOn)
        #expect(page.position.id == 2)
        let rest = [try event(3, .left), try event(4, .message("b")), try event(5, .message("c"))]
        goesOn = page.take(part(rest, more: false))
        #expect(!goesOn)
        #expect(page.events.map(\.id) == [2, 4] && page.isComplete)
        #expect(page.hasNext && page.position.id == 4, "the next page begins after the last one that is in this")
    }

    @Test func theLastPageHasNoNext() throws {
        var page = HistoryPage(onlyMessages: false, in: HistoryRange(isDescending: false, after: 1), limit: 2)
        let goesOn = page.take(part([try event(2, .joined), try event(3, .left)], more: false, complete: false))
        #expect(!goesOn)
        #expect(page.events.count == 2 && !page.hasNext && !page.isComplete)
    }

    @Test func aPageIsBoundedInBytesAndParts() throws {
        let text = String(repeating: "x", count: 8192)
        var page = HistoryPage(onlyMessages: false, in: HistoryRange(isDescending: false), limit: 1000)
        var id: Int64 = 0
        var isLonger = true
        while isLonger, id < 1000 {
            id += 1
            isLonger = page.take(part([try event(id, .message(text)), try event(id + 1, .message(text))], more: true))
            id += 1
        }
        #expect(page.hasNext && page.events.count <= HistoryPage.bytesBound / 8192 + 1)
        #expect(page.position.id == page.events.last?.id)
        var empty = HistoryPage(onlyMessages: true, in: HistoryRange(isDescending: false), limit: 1)
        var parts = 1
        while empty.take(part([try event(Int64(parts), .joined)], more: true)) { parts += 1 }
        #expect(parts == HistoryPage.partsBound && empty.events.isEmpty && empty.hasNext)
        #expect(empty.position.id == Int64(parts))
    }

    @Test func aRangeIsBetweenTwoIds() {
        let all = HistoryRange(isDescending: false)
        #expect(all.above == 0 && all.below == nil && !all.isEmpty)
        let times = HistoryRange(isDescending: false, from: 5, until: 7)
        #expect(times.above == 4_999_999 && times.below == 7_000_000 && !times.isEmpty)
        #expect(HistoryRange(isDescending: false, after: 5_500_000, from: 5).above == 5_500_000)
        #expect(HistoryRange(isDescending: false, after: 4_000_000, from: 5).above == 4_999_999)
        let back = HistoryRange(isDescending: true, after: 6_500_000, from: 5, until: 7)
        #expect(back.above == 4_999_999 && back.below == 6_500_000)
        #expect(HistoryRange(isDescending: true, after: 9_000_000, until: 7).below == 7_000_000)
        #expect(HistoryRange(isDescending: true).below == nil)
        for order in [false, true] {
            #expect(HistoryRange(isDescending: order, from: 7, until: 7).isEmpty)
            #expect(HistoryRange(isDescending: order, until: 0).isEmpty)
            #expect(!HistoryRange(isDescending: order, from: 0, until: 1).isEmpty)
        }
    }

    @Test func anAscendingPageEndsAtItsTime() throws {
        var page = HistoryPage(
            onlyMessages: false, in: HistoryRange(isDescending: false, until: 1), limit: 100)
        let events = [try event(999_999, .joined), try event(1_000_000, .left)]
        let goesOn = page.take(part(events, more: true))
        #expect(!goesOn)
        #expect(page.events.map(\.id) == [999_999] && !page.hasNext && page.isComplete)
    }

    @Test func aDescendingPageIsReadOnBelowItsLastEvent() throws {
        var page = HistoryPage(onlyMessages: true, in: HistoryRange(isDescending: true), limit: 2)
        #expect(page.position.id == 0, "from the end")
        var goesOn = page.take(part([try event(9, .message("c")), try event(8, .left)], more: true))
        #expect(goesOn && page.position.id == 8)
        let rest = [try event(7, .message("b")), try event(6, .message("a"))]
        goesOn = page.take(part(rest, more: false, complete: false))
        #expect(!goesOn)
        #expect(page.events.map(\.id) == [9, 7] && page.hasNext && page.position.id == 7 && page.isComplete)
        let later = HistoryPage(onlyMessages: true, in: HistoryRange(isDescending: true, after: 7), limit: 2)
        #expect(later.position.id == 7)
    }
}
