import BusProtocol
import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct UsageTallyTests {
    private let anna: AppID
    private let bob: AppID

    init() throws {
        anna = try AppID("anna")
        bob = try AppID("bob")
    }

    @Test func whatIsReportedIsNotReportedAgain() {
        var tally = UsageTally(day: 10)
        #expect(tally.due(on: 10).isEmpty)
        tally.sent(in: anna)
        tally.sent(in: anna)
        tally.delivered(7, in: anna)
        let due = tally.due(on: 10)
        #expect(due == [AppUse(anna, day: 10, messages: 2, deliveries: 7)])
        // It was not taken.
        #expect(tally.due(on: 10) == due)
        tally.reported(due)
        #expect(tally.due(on: 10).isEmpty)
    }

    @Test func numbersOfADayOnlyRise() {
        var tally = UsageTally(day: 10)
        tally.sent(in: anna)
        let first = tally.due(on: 10)
        tally.sent(in: anna)
        tally.sent(in: bob)
        tally.reported(first)
        let due = tally.due(on: 10).sorted { $0.app < $1.app }
        #expect(due == [AppUse(anna, day: 10, messages: 2), AppUse(bob, day: 10, messages: 1)])
    }

    @Test func aNewDayBeginsAtZero() {
        var tally = UsageTally(day: 10)
        tally.sent(in: anna)
        tally.sent(in: bob)
        tally.reported(tally.due(on: 10).filter { $0.app == anna })
        // The day turns with a report under way.
        let underWay = tally.due(on: 10)
        #expect(tally.due(on: 11) == [AppUse(bob, day: 10, messages: 1)])
        tally.sent(in: anna)
        tally.reported(underWay)
        #expect(tally.due(on: 11) == [AppUse(anna, day: 11, messages: 1)])
        // The clock was set back.
        #expect(tally.due(on: 9) == [AppUse(anna, day: 11, messages: 1)])
    }

    @Test func aReportThatWasOvertakenIsNotTheLast() {
        var tally = UsageTally(day: 10)
        tally.sent(in: anna)
        let underWay = tally.due(on: 10)
        tally.sent(in: anna)
        _ = tally.due(on: 11)
        tally.reported(underWay)
        #expect(tally.due(on: 11) == [AppUse(anna, day: 10, messages: 2)])
    }

    @Test func reportsAndWhatWaitsAreBounded() throws {
        var tally = UsageTally(day: 0)
        for day in 0...10 {
            for app in 0..<1100 { tally.sent(in: try AppID("app\(app)")) }
            let due = tally.due(on: Int64(day))
            #expect(due.count == ReportUsage.bound && due.allSatisfy { $0.day <= Int64(day) })
        }
        _ = tally.due(on: 11)
        // 10 days of 1,100 records, of which 10,000 wait.
        #expect(tally.dropped == 1000)
        var left = 0
        while case let due = tally.due(on: 11), !due.isEmpty {
            left += due.count
            tally.reported(due)
        }
        #expect(left == UsageTally.bound)
    }
}
