internal import SignalingProtocol
internal import SignalingWire

/// A logged-in user of the signaling system.
///
/// Lives from ``connect(_:)`` until ``close()``, ``abandon()``, a kick, or the end of the last reference. A broken connection
/// is resumed on another gateway by itself, with nothing lost and nothing twice: calls that were not answered are sent again,
/// messages under the same id, so that they take effect once.
///
/// A call whose task is cancelled ends with 1001 `cancelled`: whether it took effect is unknown.
///
/// ```swift
/// import SignalingClient
///
/// let configuration = ClientConfiguration(
///     app: "970CA35de60c44645bbae8a215061b33", account: "anna", source: .discovery(["https://signal.example.org"]))
/// try await SignalingClient.withClient(configuration) { anna in
///     try await anna.sendMessage("hello", to: "bob")
/// }
/// ```
public actor SignalingClient {
    /// What happens, in order, each event once. Bounded: see ``SignalingEvents``.
    public nonisolated let events: SignalingEvents
    /// The account's number within its app, as the login returned it.
    public nonisolated let uid: UInt32
    private nonisolated let handle: ClientHandle

    private init(handle: ClientHandle, queue: EventQueue, uid: UInt32) {
        self.handle = handle
        self.uid = uid
        events = SignalingEvents(queue: queue)
    }

    // The gateway would keep the session resumable for `_conn_timeout`, but nobody can resume it any more.
    deinit { handle.logOut() }

    /// Logs in, trying again within the bounds of ``ClientTiming``. When the task is cancelled, the login is given up at once.
    /// - Throws: `SignalingError` with a code from 201 to 209: `loginTokenWrong`, `loginNetwork`, `loginCancelled`...; or
    ///   `failed` when the cluster could not decide until the end.
    public static func connect(_ configuration: ClientConfiguration) async throws(SignalingError) -> SignalingClient {
        let queue = EventQueue(bound: configuration.eventBound)
        let login = OneTimeResult<UInt32>()
        let handle = ClientHandle(configuration: configuration) { event in
            switch event {
            case .loggedIn(let uid): login.finish(.success(uid))
            case .loginFailed(let error): login.finish(.failure(error))
            default: break
            }
            queue.append(event)
        }
        queue.whenTaken { handle.consumed($0) }
        handle.start()
        let uid = try await login.value { handle.logOut() }
        return SignalingClient(handle: handle, queue: queue, uid: uid)
    }

    /// Logs in, runs `body`, and logs out.
    ///
    /// `body` runs where the caller does: on the main actor, in another actor, or in none. So it may use what belongs there.
    /// - Returns: what `body` returns.
    /// - Throws: what ``connect(_:)`` or `body` throws.
    public nonisolated(nonsending) static func withClient<Result>(
        _ configuration: ClientConfiguration, _ body: nonisolated(nonsending) (SignalingClient) async throws -> Result
    ) async throws -> Result {
        let client = try await connect(configuration)
        defer { client.close() }
        return try await body(client)
    }

    /// What the client is doing.
    public var status: ClientStatus {
        get async {
            await withCheckedContinuation { continuation in
                handle.withStatus { continuation.resume(returning: $0) }
            }
        }
    }

    /// The gateway in use, or tried last; nil before the first was found.
    public var gateway: GatewayEndpoint? {
        get async {
            await withCheckedContinuation { continuation in
                handle.withGateway { continuation.resume(returning: $0) }
            }
        }
    }

    /// Logs out and returns at once. The last event is ``SignalingEvent/loggedOut(_:)`` with 101.
    public nonisolated func close() { handle.logOut() }

    /// Drops the connection and ends, without logging out: for the others the user stays online for `_conn_timeout`
    /// (120 s unless the user's attribute says otherwise).
    public nonisolated func abandon() { handle.abandon() }

    /// Calls a function of the gateway.
    /// - Returns: the whole answer.
    /// - Throws: the gateway's refusal; `cancelled`, `interrupted`, `timeout`, `queue_full` or `logged_out` from the client
    ///   itself.
    func call(_ function: String, _ arguments: [JSONMember]) async throws(SignalingError) -> JSONValue {
        let answer = OneTimeResult<JSONValue>()
        let ticket = handle.call(function, arguments) { answer.finish($0) }
        return try await answer.value { [handle] in handle.cancel(ticket) }
    }
}
