import Pacing
import Testing

@Suite struct LocalTimeTests {
    private let moment = LocalTime(nanoseconds: 1_700_000_000)

    @Test func aSpanLeadsFromOneMomentToAnother() {
        let later = moment + LocalTime.Span(.milliseconds(20))
        #expect(later == LocalTime(nanoseconds: 1_720_000_000))
        #expect((later - moment).duration == .milliseconds(20))
        #expect((moment - later).duration == .milliseconds(-20))
        #expect(moment < later && !(later < moment))
    }

    @Test(arguments: [
        Duration.zero, .nanoseconds(1), .milliseconds(-1), .seconds(8),
        .seconds(86_400 * 365) + .nanoseconds(999_999_999),
    ])
    func aSpanIsTheDurationItWasMadeFrom(duration: Duration) {
        #expect(LocalTime.Span(duration).duration == duration)
    }

    @Test func fractionsOfANanosecondAreDropped() {
        #expect(
            LocalTime.Span(Duration(secondsComponent: 1, attosecondsComponent: 999_999_999)).duration == .seconds(1))
    }

    @Test func theDistantPastIsBeforeAnySpan() {
        let decades = LocalTime.Span(.seconds(86_400 * 365 * 100))
        #expect(LocalTime(nanoseconds: 0) - .distantPast > decades)
        #expect(moment + decades - .distantPast > decades)
    }
}
