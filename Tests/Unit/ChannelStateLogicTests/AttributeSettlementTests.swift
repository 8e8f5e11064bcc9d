import ChannelStateLogic
import Testing

@Suite struct AttributeSettlementTests {
    @Test func anAppliedChangeIsSettled() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.applied) == .settled)
    }

    @Test func aKnownVersionIsComparedUnlessItWasWaitedFor() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.known) == .compare)
        var waited = AttributeSettlement()
        #expect(waited.answered(.waiting) == .retry(after: .milliseconds(10)))
        #expect(waited.answered(.known) == .settled)
    }

    @Test func aGapIsWaitedForAndThenLoaded() {
        var settlement = AttributeSettlement()
        var waits: [Duration] = []
        var last = AttributeSettlement.Action.settled
        for _ in 0...AttributeSettlement.patience {
            last = settlement.answered(.waiting)
            if case .retry(let pause) = last { waits.append(pause) }
        }
        #expect(waits == [10, 20, 40, 80, 100, 100, 100, 100].map { .milliseconds($0) })
        #expect(last == .load)
    }

    @Test func theChannelsFirstChangeIsLoadedAtOnce() {
        var settlement = AttributeSettlement()
        #expect(settlement.answered(.first) == .load)
    }
}
