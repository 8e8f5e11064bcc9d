import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct MembershipTests {
    private func event(_ sequence: Int64, _ kind: ChannelEvent.Kind = .joined) throws -> ChannelEvent {
        ChannelEvent(sequence: sequence, id: sequence, account: try Account("a"), uid: 1, kind: kind)
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
        #expect(membership.resume() == [try event(6), try event(7)])
        #expect(membership.shownAfter == 5)
        #expect(membership.resume() == [])
    }

    @Test func whoJoinsAgainMissesNoMessageAndIsToldNothingThatIsInTheLists() throws {
        var membership = Membership()
        #expect(membership.activate(after: 5) == [])
        membership.pause()
        #expect(membership.hold([try event(6), try event(7, .message("m")), try event(9)]) == true)
        #expect(membership.activate(after: 8) == [try event(7, .message("m")), try event(9)])
        // Events that arrive late, because the log had to be read first.
        #expect(membership.shownAfter == 8)
        #expect(membership.shows(try event(8, .message("m"))))
        #expect(!membership.shows(try event(8)))
        #expect(!membership.shows(try event(5, .message("m"))))
        #expect(membership.shows(try event(9)))
        membership.pause()
        #expect(!membership.shows(try event(9)))
        #expect(membership.hold([try event(8), try event(10)]) == true)
        #expect(membership.resume() == [try event(10)])
    }

    @Test func whatIsReadFromTheLogNeedNotBeHeld() throws {
        var membership = Membership()
        #expect(membership.hold([try event(4)]) == true)
        membership.holdAnew()
        #expect(membership.hold([try event(5)]) == true)
        #expect(membership.activate(after: 3) == [try event(5)])
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
