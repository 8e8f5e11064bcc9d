import Pacing
import SIPBridgeLogic
import Testing

@Suite struct LocalTimeTests {
    private let moment = LocalTime(milliseconds: 1_700)

    @Test func aSpanLeadsFromOneMomentToAnother() {
        let later = moment + .milliseconds(20)
        #expect(later == LocalTime(milliseconds: 1_720))
        #expect(later - moment == .milliseconds(20))
        #expect(moment - later == .milliseconds(-20))
        #expect(moment < later)
    }

    @Test func fractionsOfAMillisecondCount() {
        let later = moment + .microseconds(999)
        #expect(later > moment)
        #expect(later.milliseconds == 1_700)
        #expect(later + .microseconds(1) == LocalTime(milliseconds: 1_701))
    }

    @Test(arguments: [(0, 0), (19, 0), (20, 1), (39, 1), (40, 2), (1_000_000, 50_000)])
    func onlyWholeStepsCount(passed: Int, steps: Int) {
        let now = moment + .milliseconds(passed)
        #expect(Int(now.steps(of: .milliseconds(20), since: moment)) == steps)
    }
}
