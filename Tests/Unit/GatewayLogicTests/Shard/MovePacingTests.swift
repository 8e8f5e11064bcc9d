import Testing

@testable import GatewayLogic

@Suite struct MovePacingTests {
    private func at(_ nanoseconds: Int64) -> LocalTime { LocalTime(nanoseconds: nanoseconds) }

    @Test func aLoneMoveWaitsForNothing() {
        let pacing = MovePacing()
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 10) == nil)
    }

    @Test func movesRestAfterAWriteAsLongAsItWasDear() {
        var pacing = MovePacing()
        pacing.wrote(from: at(1000), to: at(1500))
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: at(1500)) == at(3500))
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: at(3499)) == at(3500))
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: at(3500)) == nil)
    }

    @Test func messagesNeverWait() {
        var pacing = MovePacing()
        pacing.wrote(from: at(1000), to: at(1500))
        #expect(pacing.postponement(of: 2, onlyMoves: false, now: at(1501)) == nil)
    }

    @Test func theRestAndWhatWaitsAreBounded() {
        var pacing = MovePacing()
        pacing.wrote(from: 0, to: 1000)
        #expect(pacing.postponement(of: 1, onlyMoves: true, now: 1000) == 1250)
        #expect(pacing.postponement(of: MovePacing.bound - 1, onlyMoves: true, now: 1000) != nil)
        #expect(pacing.postponement(of: MovePacing.bound, onlyMoves: true, now: 1000) == nil)
    }
}
