import ClusterState
import Pacing
import SignalingProtocol
import Testing

@Suite struct RedisTimeTests {
    private static let moment = RedisTime(milliseconds: 1_700_000_000_123)

    @Test func anAnswerToTimeIsReadInMilliseconds() {
        #expect(RedisTime(seconds: 1_700_000_000, microseconds: 123_999) == Self.moment)
        #expect(RedisTime(seconds: nil, microseconds: 1) == nil)
    }

    @Test(arguments: [0, 1, 10_010, 86_400_000, -5] as [Int64])
    func aSpanLaterIsThatSpanAway(milliseconds: Int64) {
        let later = Self.moment + .milliseconds(milliseconds)
        #expect(later.milliseconds == Self.moment.milliseconds + milliseconds)
        #expect(later - Self.moment == .milliseconds(milliseconds))
        #expect((later > Self.moment) == (milliseconds > 0))
        #expect((later < Self.moment) == (milliseconds < 0))
    }

    @Test func fractionsOfAMillisecondAreDropped() {
        #expect(Self.moment + .microseconds(1999) == Self.moment + .milliseconds(1))
    }

    @Test func otherFormsOfTheSameMoment() {
        #expect(RedisTime(text: "1700000000123") == Self.moment)
        #expect(RedisTime(text: "soon") == nil)
        #expect(RedisTime(microseconds: 1_700_000_000_123_999) == Self.moment)
    }

    @Test(arguments: [(.seconds(8), 8000), (.microseconds(1999), 1), (.milliseconds(-5), -5)] as [(Duration, Int64)])
    func aSpanInWholeMilliseconds(span: Duration, milliseconds: Int64) {
        #expect(span.wholeMilliseconds == milliseconds)
    }
}
