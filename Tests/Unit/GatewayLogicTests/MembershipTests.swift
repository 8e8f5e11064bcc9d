import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct MembershipTests {
    private func event(_ sequence: Int64) throws -> ChannelEvent {
        ChannelEvent(sequence: sequence, id: sequence, account: try Account("a"), uid: 1, kind: .joined)
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
