import ChannelStateLogic
import Testing

@Suite struct AttributeSettlementTests {
    @Test func whatIsInIsSettled() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.applied) == .settled)
    }

    @Test func aNumberThatWasGivenBeforeIsLookedInto() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.known) == .compare)
        var waited = AttributeSettlement()
        #expect(waited.answered(.waiting) == .lookAgain(milliseconds: 10))
        #expect(waited.answered(.known) == .settled)
    }

    @Test func aGapIsWaitedForAndThenLoaded() {
        var settlement = AttributeSettlement()
        var waits: [Int] = []
        var last = AttributeSettlement.Action.settled
        for _ in 0...AttributeSettlement.patience {
            last = settlement.answered(.waiting)
            if case .lookAgain(let milliseconds) = last { waits.append(milliseconds) }
        }
        #expect(waits == [10, 20, 40, 80, 100, 100, 100, 100])
        #expect(last == .load)
    }

    @Test func theFirstChangeOfAllIsLoadedAtOnce() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.first) == .load)
    }
}
