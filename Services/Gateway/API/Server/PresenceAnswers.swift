internal import GatewayAPILogic
internal import SignalingProtocol

/// What presence has answered about keys, or about apps, each cached for ``APIDirectory/freshness``. Part of the
/// ``APIDirectory``, and used in its isolation.
final class PresenceAnswers<ID: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        /// Nil when there is no such thing.
        let value: Value?
        let askedAt: ContinuousClock.Instant

        func isFresh(at now: ContinuousClock.Instant) -> Bool { askedAt.duration(to: now) < APIDirectory.freshness }
    }

    /// A question that presence has not answered yet. An answer counts as old as its question: a key may be revoked
    /// while a slow answer is on its way.
    private struct Question {
        let askedAt: ContinuousClock.Instant
        let answer: Task<Result<Value, SignalingError>, Never>
    }

    /// The reason with which presence says that there is no such thing.
    private let missing: SignalingReason
    private let ask: @Sendable (ID) async throws(SignalingError) -> Value
    private let clock: () -> ContinuousClock.Instant
    private var entries: [ID: Entry] = [:]
    private var questions: [ID: Question] = [:]

    init(
        missing: SignalingReason, clock: @escaping () -> ContinuousClock.Instant = { .now },
        ask: @escaping @Sendable (ID) async throws(SignalingError) -> Value
    ) {
        self.missing = missing
        self.clock = clock
        self.ask = ask
    }

    /// Whether there is an answer about an id, of whatever age.
    func knows(_ id: ID) -> Bool { entries[id] != nil }

    /// Nil when there is no such thing.
    /// - Parameter admit: called before presence is asked about an id that is not known; throws when it must not be.
    nonisolated(nonsending) func find(
        _ id: ID, admit: () throws(APIProblem) -> Void
    ) async throws(APIProblem) -> Value? {
        if let entry = entries[id], entry.isFresh(at: clock()) { return entry.value }
        let question: Question
        if let asked = questions[id] {
            question = asked
        } else {
            if entries[id]?.value == nil { try admit() }
            question = Question(askedAt: clock(), answer: asking(id))
            questions[id] = question
        }
        let answer = await question.answer.value
        questions[id] = nil
        let value = try found(answer)
        if entries.count >= APIDirectory.bound { makeRoom() }
        entries[id] = Entry(value: value, askedAt: question.askedAt)
        return value
    }

    private func asking(_ id: ID) -> Task<Result<Value, SignalingError>, Never> {
        Task { [ask] in
            do throws(SignalingError) { return .success(try await ask(id)) } catch { return .failure(error) }
        }
    }

    private func found(_ answer: Result<Value, SignalingError>) throws(APIProblem) -> Value? {
        switch answer {
        case .success(let value): return value
        case .failure(let error) where error.reason == missing: return nil
        case .failure(let error): throw APIProblem(error)
        }
    }

    /// Forgets what was not found, and then, if that is too little, what was found longest ago.
    private func makeRoom() {
        entries = entries.filter { $0.value.value != nil }
        let now = clock()
        if entries.count >= APIDirectory.bound { entries = entries.filter { $0.value.isFresh(at: now) } }
    }
}
