internal import NIOConcurrencyHelpers
internal import SignalingProtocol

/// A result that arrives once and is awaited once, in either order.
final class OneTimeResult<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, SignalingError>, Never>

    private enum State {
        case empty
        case waiting(Waiter)
        case finished(Result<Value, SignalingError>)
    }

    private let state = NIOLockedValueBox(State.empty)

    /// Sets the result; a second one is ignored.
    func finish(_ result: Result<Value, SignalingError>) {
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
    func value(cancel: @escaping @Sendable () -> Void) async throws(SignalingError) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let finished = state.withLockedValue { state -> Result<Value, SignalingError>? in
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
