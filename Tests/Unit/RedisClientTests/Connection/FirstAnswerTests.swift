import Synchronization
import Testing

@testable import RedisClient

@Suite(.timeLimit(.minutes(1))) struct FirstAnswerTests {
    private struct Failure: Error, Equatable {
        let candidate: String
    }

    /// Records who was asked, in order.
    private final class Asked: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let asked = Asked()

    /// Asks candidates that do what their names begin with; those that hang do so until the test has its answer.
    private func ask(_ candidates: [String], patience: Duration = .seconds(3600)) async throws(Failure) -> String {
        let (silence, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        let answer = try await FirstAnswer<String, String, Failure>.ask(candidates, patience: patience) {
            [asked] candidate throws(Failure) in
            asked.add(candidate)
            if candidate.hasPrefix("hangs") { for await _ in silence {} }
            if candidate.hasPrefix("fails") { throw Failure(candidate: candidate) }
            return "answer of \(candidate)"
        }
        #expect(answer.value == "answer of \(answer.candidate)")
        return answer.candidate
    }

    @Test func whoAnswersIsTheOnlyOneAsked() async throws {
        #expect(try await ask(["works 1", "works 2"]) == "works 1")
        #expect(asked.all == ["works 1"])
    }

    @Test func afterAFailureTheNextIsAskedWithoutDelay() async throws {
        #expect(try await ask(["fails 1", "fails 2", "works"]) == "works")
        #expect(asked.all == ["fails 1", "fails 2", "works"])
    }

    @Test func whoHangsIsNotWaitedFor() async throws {
        #expect(try await ask(["hangs 1", "hangs 2", "works"], patience: .milliseconds(1)) == "works")
        #expect(asked.all == ["hangs 1", "hangs 2", "works"])
    }

    @Test func whenAllFailTheLastErrorIsThrown() async throws {
        await #expect(throws: Failure(candidate: "fails 2")) { try await ask(["fails 1", "fails 2"]) }
    }
}
