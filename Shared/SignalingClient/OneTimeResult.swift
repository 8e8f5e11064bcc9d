internal import NIOConcurrencyHelpers

/// A result that arrives once and is awaited once, in either order.
package final class OneTimeResult<Value: Sendable, Failure: Error>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, Failure>, Never>

    private enum State {
        case empty
        case waiting(Waiter)
        case finished(Result<Value, Failure>)
    }

    private let state = NIOLockedValueBox(State.empty)

    /// Makes one that waits.
    package init() {}

    /// Sets the result; a second one is ignored.
    package func finish(_ result: Result<Value, Failure>) {
        let waiter = state.withLockedValue { state -> Waiter? in
            switch state {
            case .empty:
                state = .finished(result)
                return nil
            case .waiting(let waiter):
                state = .finished(result)
                return waiter
            case .finished: return nil
            }
        }
        waiter?.resume(returning: result)
    }

    /// Waits for the result.
    /// - Parameter cancel: called when the task is cancelled; the result must still arrive.
    /// - Throws: the result's error.
    package func value(cancel: @escaping @Sendable () -> Void) async throws(Failure) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let finished = state.withLockedValue { state -> Result<Value, Failure>? in
                    if case .finished(let result) = state { return result }
                    state = .waiting(waiter)
                    return nil
                }
                if let finished { waiter.resume(returning: finished) }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }
}
