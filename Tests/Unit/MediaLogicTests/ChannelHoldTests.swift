import MediaLogic
import Testing

@Suite struct ChannelHoldTests {
    @Test func aNodeTakesJoinsOnlyWhileItHolds() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
        #expect(!hold.takesJoins)
        #expect(hold.answered(.held, asked: 100) == false)
        #expect(hold.takesJoins)
        #expect(hold.tick(isEmpty: false, now: 3099) == false)
        #expect(hold.takesJoins)
        // Redis does not answer: calls go on.
        #expect(hold.tick(isEmpty: false, now: 3100) == false)
        #expect(hold.state == .unsure && !hold.takesJoins)
        #expect(hold.answered(.restored, asked: 9000) == false)
        #expect(hold.state == .held(until: 12_000))
        #expect(hold.answered(.taken(epoch: 7, node: "b"), asked: 9000) == false, "our own")
        #expect(hold.answered(.taken(epoch: 8, node: "b"), asked: 9100) == true)
        #expect(hold.state == .lost && !hold.takesJoins)
        // Nothing brings it back.
        #expect(hold.answered(.held, asked: 9200) == false)
        #expect(hold.answered(.taken(epoch: 9, node: "a"), asked: 9200) == false)
        #expect(hold.tick(isEmpty: true, now: 99_000) == false)
        #expect(hold.state == .lost)
    }

    @Test func aChannelThatWasPlacedWithItsNodeAgainGoesOn() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
        #expect(hold.answered(.held, asked: 100) == false)
        #expect(hold.answered(.taken(epoch: 5000, node: "a"), asked: 1100) == false)
        #expect(hold.epoch == 5000 && hold.state == .held(until: 4100))
        #expect(hold.answered(.taken(epoch: 4000, node: "b"), asked: 1200) == false, "of before")
        #expect(hold.answered(.taken(epoch: 5001, node: "b"), asked: 1200) == true)
        #expect(hold.epoch == 5000 && hold.state == .lost)
    }

    @Test func anEmptyChannelIsGivenUp() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
        #expect(hold.tick(isEmpty: true, now: 9999) == false)
        #expect(hold.tick(isEmpty: false, now: 10_000) == false)
        #expect(hold.tick(isEmpty: true, now: 11_000) == false)
        #expect(hold.tick(isEmpty: true, now: 20_999) == false)
        #expect(hold.tick(isEmpty: true, now: 21_000) == true)
        #expect(hold.state == .lost)
    }
}
