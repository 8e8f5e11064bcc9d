import NIOCore
import Testing

@testable import RedisClient

@Suite struct SentinelSurveyTests {
    private static let sentinels = ["s", "t"].map { NodeAddress(host: $0, port: 26_379) }

    /// A Sentinel's answer: the master's host and its epoch.
    private static func answer(
        _ master: String, _ epoch: Int, others: Int = 1
    ) -> Result<[RedisValue], RedisError> {
        .success([
            SentinelRepliesTests.fields(["config-epoch": "\(epoch)", "num-other-sentinels": "\(others)"]),
            .array([.bulk(ByteBuffer(string: master)), .bulk(ByteBuffer(string: "6379"))]),
        ])
    }

    private static func verdict(_ answers: Result<[RedisValue], RedisError>...) -> SentinelSurvey.Verdict {
        var survey = SentinelSurvey(name: "main", sentinels: sentinels)
        for (answer, sentinel) in zip(answers, sentinels) { survey.add(answer, of: sentinel) }
        return survey.verdict
    }

    @Test func theNewestAnswerCounts() {
        let (old, new) = (Self.answer("a", 1), Self.answer("b", 2))
        let master = NodeAddress(host: "b", port: 6379)
        #expect(Self.verdict(old, new) == .master(master, by: Self.sentinels[1]))
        #expect(Self.verdict(new, old) == .master(master, by: Self.sentinels[0]))
        #expect(Self.verdict(.failure(.timeout), new) == .master(master, by: Self.sentinels[1]))
        #expect(
            Self.verdict(new, .failure(RedisError(reply: "ERR No such master with that name")))
                == .master(master, by: Self.sentinels[0]))
    }

    @Test func sentinelsThatTheURLDoesNotName() {
        var survey = SentinelSurvey(name: "main", sentinels: Self.sentinels)
        #expect(survey.unnamed == 0)
        survey.add(Self.answer("a", 1, others: 1), of: Self.sentinels[0])
        #expect(survey.unnamed == 0)
        survey.add(Self.answer("a", 2, others: 4), of: Self.sentinels[1])
        #expect(survey.unnamed == 3)
    }

    @Test func anUnknownName() {
        let verdict = Self.verdict(.failure(.timeout), .failure(RedisError(reply: "ERR No such master with that name")))
        #expect(
            verdict
                == .fail(
                    RedisError(code: .flavour, message: "the Sentinel t:26379 knows no master of the name main")))
    }

    @Test func noneCanBeReached() {
        let verdict = Self.verdict(.failure(.timeout), .failure(.closed))
        #expect(
            verdict
                == .again(
                    RedisError(
                        code: .closed,
                        message: "no Sentinel of s:26379, t:26379 can be reached: \(RedisError.closed.message)")))
        // One answers, though of no use yet.
        let loading = RedisError(reply: "LOADING x")
        #expect(Self.verdict(.failure(.timeout), .failure(loading)) == .again(loading))
    }
}
