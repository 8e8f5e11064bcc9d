import BusProtocol
import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct ChannelFeedTests {
    /// An event; by default its id is its sequence number plus 1000, as long as Redis was
    /// never restored to an older state.
    private func event(_ sequence: Int64, id: Int64? = nil) throws -> ChannelEvent {
        ChannelEvent(
            sequence: sequence, id: id ?? 1000 + sequence, account: try Account("a"), uid: 1, kind: .joined)
    }

    private func events(_ sequences: ClosedRange<Int64>) throws -> [ChannelEvent] {
        try sequences.map { try event($0) }
    }

    private func place(_ sequence: Int64, id: Int64? = nil) -> ChannelPosition {
        ChannelPosition(sequence: sequence, id: id ?? 1000 + sequence)
    }

    private func page(
        _ events: [ChannelEvent], latest: ChannelPosition, complete: Bool = true, more: Bool = false
    ) -> ChannelLogPage {
        let last = events.last.map { ChannelPosition(sequence: $0.sequence, id: $0.id) }
        return ChannelLogPage(events: events, latest: latest, complete: complete, through: last ?? latest, more: more)
    }

    private func page(_ sequences: ClosedRange<Int64>) throws -> ChannelLogPage {
        page(try events(sequences), latest: place(sequences.upperBound))
    }

    @Test func eventsInOrderAreDeliveredAtOnce() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        #expect(feed.received(try event(11)) == .deliver([try event(11)]))
        #expect(feed.received(try event(12)) == .deliver([try event(12)]))
    }

    @Test func anEventOfAnUnknownKindCountsAsSeen() throws {
        var feed = ChannelFeed()
        #expect(feed.skipped(at: place(10)) == .none)
        #expect(feed.received(try event(11)) == .deliver([try event(11)]))
        #expect(feed.skipped(at: place(12)) == .none)
        #expect(feed.skipped(at: place(12)) == .none)
        #expect(feed.received(try event(13)) == .deliver([try event(13)]))
        #expect(feed.last == place(13))
    }

    @Test func anEventOfAnUnknownKindAfterAGapIsReadPast() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        #expect(feed.skipped(at: place(12)) == .readLog(after: place(10)))
        // Published while the log was read: the read may have ended before it.
        #expect(feed.skipped(at: place(13)) == .none)
        let first = page([try event(11)], latest: place(12))
        #expect(feed.filled(first) == .deliverAndRead([try event(11)], after: place(12)))
        #expect(feed.filled(page([], latest: place(13))) == .none)
        #expect(feed.received(try event(14)) == .deliver([try event(14)]))
        #expect(feed.resets == 0)
    }

    @Test func repeatedEventsAreDropped() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(11))
        #expect(feed.received(try event(11)) == .none)
        #expect(feed.received(try event(9)) == .none)
    }

    @Test func aGapIsFilledFromTheLogInOrder() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        #expect(feed.received(try event(13)) == .readLog(after: place(10)))
        #expect(feed.received(try event(14)) == .none)
        #expect(feed.filled(try page(11...13)) == .deliver(try events(11...14)))
        #expect(feed.received(try event(15)) == .deliver([try event(15)]))
        #expect(feed.resets == 0)
    }

    @Test func aReadThatFailsIsRepeatedAndEventsAreHeldMeanwhile() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(13))
        for _ in 0..<5 { #expect(feed.filled(nil) == .readLater(after: place(10))) }
        #expect(feed.received(try event(14)) == .none)
        #expect(feed.filled(try page(11...13)) == .deliver(try events(11...14)))
    }

    @Test func aLongGapIsReadInPages() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(15))
        let first = page([try event(11), try event(12)], latest: place(15), more: true)
        #expect(feed.filled(first) == .deliverAndRead([try event(11), try event(12)], after: place(12)))
        #expect(feed.received(try event(16)) == .none)
        #expect(feed.filled(try page(13...15)) == .deliver(try events(13...16)))
    }

    @Test func aGapThatTheLogNoLongerFillsIsSkipped() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(13))
        #expect(feed.filled(page([], latest: place(0, id: 0), complete: false)) == .deliver([try event(13)]))
        #expect(feed.received(try event(14)) == .deliver([try event(14)]))
    }

    @Test func anEventMissingFromTheLogItselfIsNoGap() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(13))
        let known = [try event(11), try event(13)]
        #expect(feed.filled(page(known, latest: place(14))) == .deliver(known))
        #expect(feed.received(try event(15)) == .deliver([try event(15)]))
    }

    @Test func aGapBeforeHeldEventsIsReadABoundedNumberOfTimes() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.resynchronize()
        _ = feed.received(try event(14))
        let read = page([try event(11)], latest: place(11))
        #expect(feed.filled(read) == .deliverAndRead([try event(11)], after: place(11)))
        #expect(feed.filled(page([], latest: place(11))) == .readLog(after: place(11)))
        #expect(feed.filled(page([], latest: place(11))) == .deliver([try event(14)]))
    }

    @Test func tooManyHeldEventsAreLeftToAnotherRead() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        let last = 12 + Int64(ChannelFeed.bufferBound)
        for sequence in 12...last { _ = feed.received(try event(sequence)) }
        #expect(feed.filled(try page(11...12)) == .deliverAndRead([try event(11), try event(12)], after: place(12)))
        #expect(feed.filled(try page(13...last)) == .deliver(try events(13...last)))
    }

    @Test func aRenewedConnectionReadsTheLog() throws {
        var feed = ChannelFeed()
        #expect(feed.resynchronize() == .none)
        feed.joined(at: place(10))
        #expect(feed.resynchronize() == .readLog(after: place(10)))
        #expect(feed.filled(page([], latest: place(10))) == .none)
        #expect(feed.last == place(10))
    }

    @Test func anOutageWhileTheLogIsReadIsRememberedUntilItsEnd() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.resynchronize()
        #expect(feed.resynchronize() == .none)
        #expect(feed.filled(try page(11...11)) == .deliverAndRead([try event(11)], after: place(11)))
        #expect(feed.filled(try page(12...12)) == .deliver([try event(12)]))
    }

    @Test func anEventWithALowerNumberAndALaterIDIsShown() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.received(try event(11))
        _ = feed.received(try event(12))
        // Redis was restored to the state at 10, and numbering continues from there.
        let (again, next) = (try event(11, id: 5000), try event(12, id: 5001))
        #expect(feed.received(next) == .readLog(after: place(12)))
        #expect(feed.filled(page([again, next], latest: place(12, id: 5001))) == .deliver([again, next]))
        #expect(feed.resets == 1)
        #expect(feed.received(try event(13, id: 5002)) == .deliver([try event(13, id: 5002)]))
    }

    @Test func aPageWithALowerNumberIsAReset() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(12))
        _ = feed.resynchronize()
        #expect(feed.filled(page([], latest: place(10))) == .none)
        #expect(feed.resets == 1)
        #expect(feed.received(try event(11, id: 1011)) == .none, "ids still never decrease")
        #expect(feed.received(try event(11, id: 5000)) == .deliver([try event(11, id: 5000)]))
    }

    @Test func asManyEventsAsTheBoundAllowsAreHeld() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        let last = 11 + Int64(ChannelFeed.bufferBound)
        for sequence in 12...last { _ = feed.received(try event(sequence)) }
        #expect(feed.filled(try page(11...11)) == .deliver(try events(11...last)))
    }

    @Test func anEventThatThePageRepeatsIsDeliveredOnce() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.resynchronize()
        #expect(feed.filled(try page(10...12)) == .deliver(try events(11...12)))
    }

    @Test func anOutageWhilePagesAreReadIsRememberedUntilTheLast() throws {
        var feed = ChannelFeed()
        feed.joined(at: place(10))
        _ = feed.resynchronize()
        #expect(feed.resynchronize() == .none)
        let first = page([try event(11)], latest: place(12), more: true)
        #expect(feed.filled(first) == .deliverAndRead([try event(11)], after: place(11)))
        #expect(feed.filled(try page(12...12)) == .deliverAndRead([try event(12)], after: place(12)))
        #expect(feed.filled(page([], latest: place(12))) == .none)
    }
}
