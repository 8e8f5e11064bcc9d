import Testing

@testable import RedisClient

@Suite struct AnswersAwaitedTests {
    private static let refused = RedisError(code: .init(rawValue: "SIG"), message: "1 x y")

    @Test func laterCommandsAreSentAfterAllAnswers() {
        var awaited = AnswersAwaited(count: 2)
        #expect(awaited.answered(.success(.integer(1))) == .wait)
        // In a pipeline they would be carried out after an error, too.
        #expect(awaited.answered(.failure(Self.refused)) == .send)
    }

    @Test(arguments: [RedisError.closed, .timeout, .unreplicated(1), .full("commands", bound: 1)])
    func laterCommandsFailWhenAnOutcomeIsUnknown(_ error: RedisError) {
        var awaited = AnswersAwaited(count: 3)
        #expect(awaited.answered(.failure(error)) == .wait)
        #expect(awaited.answered(.failure(.shutDown)) == .wait)
        #expect(awaited.answered(.success(.null)) == .fail(error))
    }
}
