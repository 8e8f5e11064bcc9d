internal import DequeModule

/// Collects inputs while a statement is running, so that concurrent commands share the next statement.
///
/// When no batch is running, an input starts one at once, together with the inputs submitted before it runs. Inputs
/// that arrive during a batch form the next one, in order of arrival. The task that submitted a batch's first input
/// also runs the batch, so the batcher needs no task of its own.
package actor Batcher<Input: Sendable, Output: Sendable> {
    /// Why a waiting task continues: with its result, or to run the next batch.
    private enum WakeUp {
        case answered(Result<Output, PostgresError>)
        case lead
    }

    private struct Waiter {
        var input: Input
        var continuation: CheckedContinuation<WakeUp, Never>
    }

    private let limit: Int
    private let waitingBound: Int
    private let gathering: Duration
    private let flush: @Sendable ([Input]) async throws(PostgresError) -> [Output]
    private var isFlushing = false
    private var waiters: Deque<Waiter> = []

    /// Creates a batcher.
    /// - Parameters:
    ///   - limit: the largest batch; default 500 inputs.
    ///   - waitingBound: the largest number of inputs that wait for later batches; default 10,000.
    ///   - gathering: how long a batch that directly follows another waits for more inputs, to share its cost; default
    ///     not at all. A batch that starts when none is running never waits.
    ///   - flush: performs a batch and returns one output per input, in order. Must be repeatable: a batch that the
    ///     server refuses because of one input's data is repeated input by input.
    package init(
        limit: Int = 500, waitingBound: Int = 10_000, gathering: Duration = .zero,
        flush: @escaping @Sendable ([Input]) async throws(PostgresError) -> [Output]
    ) {
        self.limit = max(1, limit)
        self.waitingBound = waitingBound
        self.gathering = gathering
        self.flush = flush
    }

    /// The number of inputs that wait for a later batch.
    var waiting: Int { waiters.count }

    /// Performs one input, as part of a batch.
    /// - Throws: the batch's error, or ``PostgresError/Kind/full`` when too many inputs are waiting.
    package func submit(_ input: Input) async throws(PostgresError) -> Output {
        if isFlushing {
            guard waiters.count < waitingBound else {
                throw PostgresError(.full, "\(waitingBound) changes already wait for PostgreSQL")
            }
            let wakeUp = await withCheckedContinuation { continuation in
                waiters.append(Waiter(input: input, continuation: continuation))
            }
            switch wakeUp {
            case .answered(let result): return try result.get()
            case .lead:
                // The sleep ends early when the task is cancelled; the batch then runs at once.
                if gathering > .zero { try? await Task.sleep(for: gathering) }
            }
        } else {
            isFlushing = true
            // Several commands arrive with one read of a stream: let the handlers of the
            // others submit their inputs first.
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
                let error = PostgresError(.shape, "got \(outputs.count) results for \(inputs.count) inputs")
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
