import Pacing
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct JoinLeaveCoalescingTests {
    private func at(_ nanoseconds: Int64) -> LocalTime { LocalTime(nanoseconds: nanoseconds) }

    @Test func aLoneMoveWaitsForNothing() {
        let coalescing = JoinLeaveCoalescing()
        #expect(coalescing.postponement(of: 1, onlyJoinsAndLeaves: true, now: 10) == nil)
    }

    @Test func movesRestAfterAWriteAsLongAsItWasDear() {
        var coalescing = JoinLeaveCoalescing()
        coalescing.wrote(from: at(1000), to: at(1500))
        #expect(coalescing.postponement(of: 1, onlyJoinsAndLeaves: true, now: at(1500)) == at(3500))
        #expect(coalescing.postponement(of: 1, onlyJoinsAndLeaves: true, now: at(3499)) == at(3500))
        #expect(coalescing.postponement(of: 1, onlyJoinsAndLeaves: true, now: at(3500)) == nil)
    }

    @Test func messagesNeverWait() {
        var coalescing = JoinLeaveCoalescing()
        coalescing.wrote(from: at(1000), to: at(1500))
        #expect(coalescing.postponement(of: 2, onlyJoinsAndLeaves: false, now: at(1501)) == nil)
    }

    @Test func theRestAndWhatWaitsAreBounded() {
        var coalescing = JoinLeaveCoalescing()
        coalescing.wrote(from: 0, to: 1000)
        #expect(coalescing.postponement(of: 1, onlyJoinsAndLeaves: true, now: 1000) == 1250)
        #expect(coalescing.postponement(of: JoinLeaveCoalescing.bound - 1, onlyJoinsAndLeaves: true, now: 1000) != nil)
        #expect(coalescing.postponement(of: JoinLeaveCoalescing.bound, onlyJoinsAndLeaves: true, now: 1000) == nil)
    }
}
