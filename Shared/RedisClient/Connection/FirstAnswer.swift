internal import Synchronization

/// Asks candidates in turn until one answers: the next when one has failed, or when the last
/// one has not answered for a while.
final class FirstAnswer<Candidate: Sendable, Value: Sendable, Failure: Error>: Sendable {
    /// An answer, and who gave it.
    typealias Answer = (candidate: Candidate, value: Value)

    private struct State {
        /// The caller; nil once it has its answer.
        var caller: CheckedContinuation<Result<Answer, Failure>, Never>?
        var asked = 0
        var failed = 0
    }

    private let candidates: [Candidate]
    private let patience: Duration
    private let request: @Sendable (Candidate) async throws(Failure) -> Value
    private let state: Mutex<State>

    /// Returns as soon as there is an answer; later ones are dropped.
    /// - Parameters:
    ///   - candidates: in the order in which they are asked; one at least.
    ///   - patience: how long a candidate may take before the next is asked too.
    /// - Throws: the last candidate's error, when all have failed.
    static func ask(
        _ candidates: [Candidate], patience: Duration,
        _ request: @escaping @Sendable (Candidate) async throws(Failure) -> Value
    ) async throws(Failure) -> Answer {
        precondition(!candidates.isEmpty, "nobody to ask")
        let result = await withCheckedContinuation { caller in
            FirstAnswer(candidates, patience, request, caller).askNext(after: 0)
        }
        return try result.get()
    }

    private init(
        _ candidates: [Candidate], _ patience: Duration,
        _ request: @escaping @Sendable (Candidate) async throws(Failure) -> Value,
        _ caller: CheckedContinuation<Result<Answer, Failure>, Never>
    ) {
        self.candidates = candidates
        self.patience = patience
        self.request = request
        state = Mutex(State(caller: caller))
    }

    /// Asks the next candidate.
    /// - Parameter count: the number of candidates asked until now; if it is another
    ///   meanwhile, the next one has been asked.
    private func askNext(after count: Int) {
        let isDue = state.withLock { state in
            guard state.caller != nil, state.asked == count, count < candidates.count else { return false }
            state.asked += 1
            return true
        }
        guard isDue else { return }
        // Unstructured, because the caller does not wait for a candidate that hangs.
        Task {
            do throws(Failure) {
                let answer = (candidate: self.candidates[count], value: try await self.request(self.candidates[count]))
                self.takeCaller()?.resume(returning: .success(answer))
            } catch {
                self.failed(error)
            }
        }
        guard count + 1 < candidates.count else { return }
        Task {
            try? await Task.sleep(for: self.patience)
            self.askNext(after: count + 1)
        }
    }

    private func failed(_ error: Failure) {
        let (asked, isLast) = state.withLock { state in
            state.failed += 1
            return (state.asked, state.failed == candidates.count)
        }
        if isLast { takeCaller()?.resume(returning: .failure(error)) } else { askNext(after: asked) }
    }

    private func takeCaller() -> CheckedContinuation<Result<Answer, Failure>, Never>? {
        state.withLock { state in
            defer { state.caller = nil }
            return state.caller
        }
    }
}
