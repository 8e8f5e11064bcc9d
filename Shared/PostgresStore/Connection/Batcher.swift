internal import DequeModule

/// Collects inputs while a statement is under way, so that concurrent commands share the next one.
///
/// The first to come takes effect at once, with those that are submitted in the same turn; those that come meanwhile go
/// together, in the order of their coming.
/// The caller whose input is the first of a batch runs it: no task of its own is needed.
package actor Batcher<Input: Sendable, Output: Sendable> {
    private enum Turn {
        case answered(Result<Output, PostgresError>)
        case lead
    }

    private struct Waiter {
        var input: Input
        var continuation: CheckedContinuation<Turn, Never>
    }

    private let limit: Int
    private let waitingBound: Int
    private let gathering: Duration
    private let flush: @Sendable ([Input]) async throws(PostgresError) -> [Output]
    private var isFlushing = false
    private var waiters: Deque<Waiter> = []

    /// Makes a batcher.
    /// - Parameters:
    ///   - limit: inputs of one batch, at most; default 500.
    ///   - waitingBound: inputs that may wait for the next batches; default 10,000.
    ///   - gathering: how long a batch that follows another waits for more inputs to share its cost; default not at all.
    ///     One that finds no other under way never waits.
    ///   - flush: performs a batch; one output per input, in order. Must be repeatable: a batch that the server refuses
    ///     for one input's sake is repeated one by one.
    package init(
        limit: Int = 500, waitingBound: Int = 10_000, gathering: Duration = .zero,
        flush: @escaping @Sendable ([Input]) async throws(PostgresError) -> [Output]
    ) {
        self.limit = max(1, limit)
        self.waitingBound = waitingBound
        self.gathering = gathering
        self.flush = flush
    }

    /// How many inputs wait for the batch under way to end.
    var waiting: Int { waiters.count }

    /// Performs one input, in a batch with others.
    /// - Throws: the batch's error, or ``PostgresError/Kind/full`` when too many wait.
    package func submit(_ input: Input) async throws(PostgresError) -> Output {
        if isFlushing {
            guard waiters.count < waitingBound else {
                throw PostgresError(.full, "\(waitingBound) changes wait for PostgreSQL already")
            }
            let turn = await withCheckedContinuation { continuation in
                waiters.append(Waiter(input: input, continuation: continuation))
            }
            switch turn {
            case .answered(let result): return try result.get()
            case .lead:
                // Ends early when the task is cancelled: the batch goes at once then.
                if gathering > .zero { try? await Task.sleep(for: gathering) }
            }
        } else {
            isFlushing = true
            // Commands are read by the dozen: the others of the dozen are about to come.
            await Task.yield()
        }
        let companions = Array(waiters.prefix(limit - 1))
        waiters.removeFirst(companions.count)
        let results = await perform([input] + companions.map(\.input))
        for (companion, result) in zip(companions, results.dropFirst()) {
            companion.continuation.resume(returning: .answered(result))
        }
        if let next = waiters.popFirst() {
            next.continuation.resume(returning: .lead)
        } else {
            isFlushing = false
        }
        return try results[0].get()
    }

    private func perform(_ inputs: [Input]) async -> [Result<Output, PostgresError>] {
        do {
            let outputs = try await flush(inputs)
            guard outputs.count == inputs.count else {
                let error = PostgresError(.shape, "\(outputs.count) answers to \(inputs.count) inputs")
                return inputs.map { _ in .failure(error) }
            }
            return outputs.map { .success($0) }
        } catch  where error.isDataError && inputs.count > 1 {
            var results: [Result<Output, PostgresError>] = []
            for input in inputs { results += await perform([input]) }
            return results
        } catch {
            return inputs.map { _ in .failure(error) }
        }
    }
}
