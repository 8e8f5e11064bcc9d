internal import SignalingProtocol
internal import SignalingWire
internal import Synchronization

/// A logged-in user of the signaling system.
///
/// Lives from ``connect(_:)`` until ``logOut()``, ``close()``, a kick, or the end of the last reference; a broken
/// connection is resumed on another gateway by itself, with nothing lost and nothing twice. Calls that were not answered
/// are sent again then, messages under the same id, so that they take effect once.
///
/// A cancelled call ends with 1001 `cancelled`: whether it took effect is unknown.
public actor SignalingClient {
    /// What happens, in order, each once. Bounded by backpressure: see ``SignalingEvents``.
    public nonisolated let events: SignalingEvents
    /// The account's number, as login returned it.
    public nonisolated let uid: UInt32
    private nonisolated let driver: ClientDriver

    private init(driver: ClientDriver, queue: EventQueue, uid: UInt32) {
        self.driver = driver
        self.uid = uid
        events = SignalingEvents(queue: queue)
    }

    // The gateway keeps the session resumable for `_conn_timeout`; nobody could resume it, so it is ended at once.
    deinit { driver.logOut() }

    /// Logs in, trying again within the bounds of ``ClientTiming``. Cancellation gives up at once.
    /// - Throws: `SignalingError` with a code from 201 to 209.
    public static func connect(_ configuration: ClientConfiguration) async throws(SignalingError) -> SignalingClient {
        let queue = EventQueue(bound: configuration.eventBound)
        let login = OneTimeResult<UInt32>()
        let driver = ClientDriver(configuration: configuration) { event in
            switch event {
            case .loggedIn(let uid): login.finish(.success(uid))
            case .loginFailed(let error): login.finish(.failure(error))
            default: break
            }
            queue.append(event)
        }
        queue.whenTaken { [weak driver] in driver?.consumed($0) }
        driver.start()
        let uid = try await login.value { driver.logOut() }
        return SignalingClient(driver: driver, queue: queue, uid: uid)
    }

    /// Logs in for as long as `body` runs.
    /// - Throws: what ``connect(_:)`` or `body` throws.
    public static func withClient<Result: Sendable>(
        _ configuration: ClientConfiguration, _ body: (SignalingClient) async throws -> Result
    ) async throws -> Result {
        let client = try await connect(configuration)
        do {
            let result = try await body(client)
            client.close()
            return result
        } catch {
            client.close()
            throw error
        }
    }

    /// What the client is doing.
    public var status: ClientStatus {
        get async {
            await withCheckedContinuation { continuation in
                driver.withStatus { continuation.resume(returning: $0) }
            }
        }
    }

    /// The gateway in use, or tried last.
    public var gateway: GatewayEndpoint? {
        get async {
            await withCheckedContinuation { continuation in
                driver.withGateway { continuation.resume(returning: $0) }
            }
        }
    }

    /// Logs out; the last event is ``SignalingEvent/loggedOut(_:)`` with 101. Returns at once.
    public nonisolated func close() { driver.logOut() }

    /// Drops the connection and ends, without logging out: for the others the user stays online for `_conn_timeout`.
    public nonisolated func abandon() { driver.abandon() }

    /// Calls a function of the gateway.
    /// - Returns: the whole answer.
    func call(_ function: String, _ arguments: [JSONMember]) async throws(SignalingError) -> JSONValue {
        let answer = OneTimeResult<JSONValue>()
        let number = Mutex<Int64?>(nil)
        driver.call(
            function, arguments, number: { id in number.withLock { $0 = id } }, completion: { answer.finish($0) })
        return try await answer.value { [driver] in
            // In the order of the loop: the number is known by then.
            driver.withStatus { _ in
                if let id = number.withLock({ $0 }) { driver.cancel(id) }
            }
        }
    }
}

/// A result that comes once and is awaited once, in either order.
final class OneTimeResult<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Result<Value, SignalingError>, Never>)
        case finished(Result<Value, SignalingError>)
    }

    private let state = Mutex(State.empty)

    func finish(_ result: Result<Value, SignalingError>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Value, SignalingError>, Never>? in
            switch state {
            case .empty:
                state = .finished(result)
                return nil
            case .waiting(let continuation):
                state = .finished(result)
                return continuation
            case .finished: return nil
            }
        }
        waiter?.resume(returning: result)
    }

    /// Waits. `cancel` is called when the task is cancelled; the result must still come.
    func value(cancel: @escaping @Sendable () -> Void) async throws(SignalingError) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SignalingError>, Never>) in
                let finished = state.withLock { state -> Result<Value, SignalingError>? in
                    if case .finished(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let finished { continuation.resume(returning: finished) }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }
}
