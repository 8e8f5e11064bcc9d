import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct ChannelFeedTests {
    private func event(_ sequence: Int64) throws -> ChannelEvent {
        ChannelEvent(sequence: sequence, id: 1000 + sequence, account: try Account("a"), uid: 1, kind: .joined)
    }

    private func page(_ sequences: [Int64]) throws -> ChannelLogPage {
        ChannelLogPage(events: try sequences.map(event), sequence: sequences.last ?? 0, complete: true)
    }

    @Test func eventsInOrderGoOutAtOnce() throws {
        var feed = ChannelFeed()
        feed.joined(at: 10)
        #expect(feed.received(try event(11)) == .deliver([try event(11)]))
        #expect(feed.received(try event(12)) == .deliver([try event(12)]))
    }

    @Test func repeatedEventsAreDropped() throws {
        var feed = ChannelFeed()
        feed.joined(at: 10)
        _ = feed.received(try event(11))
        #expect(feed.received(try event(11)) == .none)
        #expect(feed.received(try event(9)) == .none)
    }

    @Test func aGapIsFilledFromTheLogInOrder() throws {
        var feed = ChannelFeed()
        feed.joined(at: 10)
        #expect(feed.received(try event(13)) == .readLog(after: 10))
        #expect(feed.received(try event(14)) == .none)
        #expect(feed.filled(try page([11, 12, 13])) == .deliver(try [11, 12, 13, 14].map(event)))
        #expect(feed.received(try event(15)) == .deliver([try event(15)]))
    }

    @Test func anUnreadableGapDoesNotHoldLaterEvents() throws {
        var feed = ChannelFeed()
        feed.joined(at: 10)
        _ = feed.received(try event(13))
        #expect(feed.filled(nil) == .deliver([try event(13)]))
    }

    @Test func aGapIsGivenUpAtTheBound() throws {
        var feed = ChannelFeed()
        feed.joined(at: 10)
        _ = feed.received(try event(12))
        var last = ChannelFeed.Action.none
        for sequence in 13...Int64(12 + ChannelFeed.bufferBound) { last = feed.received(try event(sequence)) }
        guard case .deliver(let events) = last else {
            Issue.record("not given up")
            return
        }
        #expect(events.count == ChannelFeed.bufferBound + 1)
        #expect(feed.filled(try page([11])) == .none)
    }

    @Test func aRenewedConnectionReadsTheLog() throws {
        var feed = ChannelFeed()
        #expect(feed.resynchronize() == .none)
        feed.joined(at: 10)
        #expect(feed.resynchronize() == .readLog(after: 10))
        #expect(feed.filled(try page([])) == .none)
        #expect(feed.last == 10)
    }
}

@Suite struct MembershipTests {
    private func event(_ sequence: Int64) throws -> ChannelEvent {
        ChannelEvent(sequence: sequence, id: 1000 + sequence, account: try Account("a"), uid: 1, kind: .joined)
    }

    @Test func aJoinerSeesOnlyWhatCameAfterTheJoin() throws {
        var membership = Membership()
        #expect(membership.hold([try event(4), try event(5), try event(6)]) == true)
        #expect(membership.activate(after: 5) == [try event(6)])
        #expect(membership.shownAfter == 5)
    }

    @Test func aMembersEventsWaitForTheAnswerToTheirAct() throws {
        var membership = Membership()
        membership.pause()
        #expect(membership.resume() == [])
        #expect(membership.activate(after: 5) == [])
        membership.pause()
        #expect(membership.shownAfter == nil)
        #expect(membership.hold([try event(5), try event(6)]) == true)
        #expect(membership.hold([try event(7)]) == true)
        #expect(membership.activate(after: 9) == [])
        #expect(membership.resume() == [try event(6), try event(7)])
        #expect(membership.shownAfter == 5)
        #expect(membership.resume() == [])
    }

    @Test(arguments: [false, true])
    func holdingIsBounded(isPaused: Bool) throws {
        var membership = Membership()
        if isPaused {
            #expect(membership.activate(after: 0) == [])
            membership.pause()
        }
        for sequence in 1...Int64(Membership.heldBound) { #expect(membership.hold([try event(sequence)]) == true) }
        #expect(membership.hold([try event(0)]) == false)
    }
}
