import GatewayAPILogic
import SignalingProtocol
import Synchronization
import TestKit
import Testing

@testable import GatewayAPIServer

/// What presence said is believed for a while, and asked for once.
@MainActor @Suite struct PresenceAnswersTests {
    /// Presence, whose answers a test sets, and a clock that it moves.
    private final class Presence: Sendable {
        private struct State {
            var asked: [String] = []
            var known: [String: Int] = [:]
            var failure: SignalingError?
            var waiting: [CheckedContinuation<Void, Never>]?
            var now = ContinuousClock.now
        }

        private let state = Mutex(State())

        var asked: [String] { state.withLock { $0.asked } }
        var now: ContinuousClock.Instant { state.withLock { $0.now } }

        func set(_ value: Int?, for id: String) { state.withLock { $0.known[id] = value } }
        func fail(_ error: SignalingError?) { state.withLock { $0.failure = error } }
        func pass(_ time: Duration) { state.withLock { $0.now += time } }

        /// From now on answers wait for ``release()``.
        func hold() { state.withLock { $0.waiting = [] } }

        func release() {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting ?? []
            }
            for question in waiting { question.resume() }
        }

        func ask(_ id: String) async throws(SignalingError) -> Int {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    state.asked.append(id)
                    state.waiting?.append(continuation)
                    return state.waiting == nil
                }
                if goesOn { continuation.resume() }
            }
            let answer: Result<Int, SignalingError> = state.withLock { state in
                if let failure = state.failure { return .failure(failure) }
                guard let value = state.known[id] else {
                    return .failure(SignalingError(.failed, .unknownKey, "there is no such key"))
                }
                return .success(value)
            }
            return try answer.get()
        }
    }

    private let presence = Presence()

    private func answers() -> PresenceAnswers<String, Int> {
        let ask = { @Sendable [presence] (id: String) async throws(SignalingError) in try await presence.ask(id) }
        return PresenceAnswers(missing: .unknownKey, clock: { [presence] in presence.now }, ask: ask)
    }

    @Test func anAnswerIsBelievedForAWhile() async throws {
        let answers = answers()
        presence.set(1, for: "a")
        #expect(!answers.knows("a"))
        #expect(try await answers.find("a", admit: {}) == 1)
        #expect(answers.knows("a"))
        presence.set(2, for: "a")
        presence.pass(APIDirectory.freshness - .milliseconds(1))
        #expect(try await answers.find("a", admit: {}) == 1)
        presence.pass(.milliseconds(1))
        #expect(try await answers.find("a", admit: {}) == 2)
        #expect(presence.asked == ["a", "a"])
    }

    /// So is that there is no such key: who tries one again and again costs presence nothing.
    @Test func whatIsMissingIsRememberedToo() async throws {
        let answers = answers()
        #expect(try await answers.find("a", admit: {}) == nil)
        presence.set(1, for: "a")
        #expect(try await answers.find("a", admit: {}) == nil)
        presence.pass(APIDirectory.freshness)
        #expect(try await answers.find("a", admit: {}) == 1)
        #expect(presence.asked == ["a", "a"])
    }

    @Test func manyAskersAreOneQuestion() async throws {
        let answers = answers()
        presence.set(1, for: "a")
        presence.hold()
        let askers = (0..<3).map { _ in Task { try await answers.find("a", admit: {}) } }
        try await waitUntil("presence is asked") { presence.asked.isEmpty ? "not yet" : nil }
        // An answer counts as old as its question.
        presence.pass(APIDirectory.freshness)
        presence.release()
        for asker in askers { #expect(try await asker.value == 1) }
        #expect(presence.asked == ["a"])
        #expect(try await answers.find("a", admit: {}) == 1)
        #expect(presence.asked == ["a", "a"])
    }

    @Test func aFailureIsNotRemembered() async throws {
        let answers = answers()
        presence.set(1, for: "a")
        presence.fail(.timeout())
        let problem = await #expect(throws: APIProblem.self) { try await answers.find("a", admit: {}) }
        #expect(problem?.code == .timeout)
        #expect(!answers.knows("a"))
        presence.fail(nil)
        #expect(try await answers.find("a", admit: {}) == 1)
    }

    /// Who is not admitted may not make presence work, but is told what is known.
    @Test func onlyQuestionsAboutTheUnknownNeedAdmission() async throws {
        let answers = answers()
        presence.set(1, for: "a")
        let refusal = { () throws(APIProblem) in throw APIProblem(.rateLimited, "too many") }
        await #expect(throws: APIProblem.self) { try await answers.find("a", admit: refusal) }
        #expect(presence.asked == [])
        _ = try await answers.find("a", admit: {})
        presence.pass(APIDirectory.freshness)
        #expect(try await answers.find("a", admit: refusal) == 1)
        // That there is no such key is not enough: those who invent keys would be admitted to repeat them.
        _ = try await answers.find("b", admit: {})
        presence.pass(APIDirectory.freshness)
        await #expect(throws: APIProblem.self) { try await answers.find("b", admit: refusal) }
    }

    /// What is not found makes room first, then what is old; what was found just now stays.
    @Test func room() async throws {
        let answers = answers()
        presence.set(1, for: "old")
        presence.set(2, for: "new")
        _ = try await answers.find("old", admit: {})
        for number in 2..<APIDirectory.bound { _ = try await answers.find("\(number)", admit: {}) }
        _ = try await answers.find("new", admit: {})
        #expect(answers.knows("2"))
        _ = try await answers.find("one more", admit: {})
        #expect(!answers.knows("2") && answers.knows("old") && answers.knows("new") && answers.knows("one more"))
    }
}
