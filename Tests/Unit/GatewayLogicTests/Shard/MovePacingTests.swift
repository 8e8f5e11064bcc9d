import Testing

@testable import GatewayLogic

@Suite struct MovePacingTests {
    @Test func aLoneMoveWaitsForNothing() {
        let pacing = MovePacing()
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 10) == nil)
    }

    @Test func movesRestAfterAWriteAsLongAsItWasDear() {
        var pacing = MovePacing()
        pacing.wrote(from: 1000, to: 1500)
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 1500) == 3500)
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 3499) == 3500)
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 3500) == nil)
    }

    @Test func messagesNeverWait() {
        var pacing = MovePacing()
        pacing.wrote(from: 1000, to: 1500)
        #expect(pacing.postponement(of: 2, onlyMoves: false, now: 1501) == nil)
    }

    @Test func theRestAndWhatWaitsAreBounded() {
        var pacing = MovePacing()
        pacing.wrote(from: 0, to: 1_000_000_000)
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 1_000_000_000) == 1_250_000_000)
        #expect(pacing.postponement(of: MovePacing.bound - 1, onlyMoves: true, now: 1_000_000_000) != nil)
        #expect(pacing.postponement(of: MovePacing.bound, onlyMoves: true, now: 1_000_000_000) == nil)
    }
}
