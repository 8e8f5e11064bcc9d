internal import SignalingProtocol
internal import SignalingWire

/// A logged-in user of the signaling system.
///
/// Exists from ``connect(_:)`` until ``close()``, ``abandon()``, a kick, or the release of the last reference. After a
/// lost connection the client resumes the session on another gateway by itself. Nothing is lost or delivered twice:
/// unanswered calls are sent again, messages under the same id, so that they take effect once.
///
/// A call whose task is cancelled throws 1001 `cancelled`: whether it took effect is unknown.
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
    /// The client's events, in order, each delivered once. Their number is bounded: see ``SignalingEvents``.
    public nonisolated let events: SignalingEvents
    /// The account's numeric id within its app, as returned by the login.
    public nonisolated let uid: UInt32
    private nonisolated let handle: ClientHandle

    private init(handle: ClientHandle, queue: EventQueue<SignalingEvent>, uid: UInt32) {
        self.handle = handle
        self.uid = uid
        events = SignalingEvents(queue: queue)
    }

    // The gateway would keep the session resumable for `_conn_timeout`, but nobody could resume it any more.
    deinit { handle.logOut() }

    /// Logs in, trying again within the bounds of ``ClientTiming``. If the task is cancelled, the login is given up at
    /// once.
    /// - Throws: `SignalingError` with a code from 201 to 209: `loginTokenWrong`, `loginNetwork`, `loginCancelled`...;
    ///   or `failed` when the cluster could not decide on the login within that time.
    public static func connect(_ configuration: ClientConfiguration) async throws(SignalingError) -> SignalingClient {
        let queue = EventQueue<SignalingEvent>(bound: configuration.eventBound)
        let login = OneTimeResult<UInt32, SignalingError>()
        let handle = ClientHandle(configuration: configuration) { event in
            switch event {
            case .loggedIn(let uid): login.finish(.success(uid))
            case .loginFailed(let error): login.finish(.failure(error))
            default: break
            }
            queue.append(event, isLast: event.isLast)
        }
        queue.whenTaken { handle.consumed($0) }
        handle.start()
        let uid = try await login.value { handle.logOut() }
        return SignalingClient(handle: handle, queue: queue, uid: uid)
    }

    /// Logs in, runs `body`, and logs out.
    ///
    /// `body` runs in the caller's isolation: on the main actor, in another actor, or in none. So it may use what is
    /// isolated there.
    /// - Returns: what `body` returns.
    /// - Throws: what ``connect(_:)`` or `body` throws.
    public nonisolated(nonsending) static func withClient<Result>(
        _ configuration: ClientConfiguration, _ body: nonisolated(nonsending) (SignalingClient) async throws -> Result
    ) async throws -> Result {
        let client = try await connect(configuration)
        defer { client.close() }
        return try await body(client)
    }

    /// The client's state.
    public var status: ClientStatus {
        get async {
            await withCheckedContinuation { continuation in
                handle.withStatus { continuation.resume(returning: $0) }
            }
        }
    }

    /// The gateway in use, or the last one that was tried; nil before the first one was found.
    public var gateway: GatewayEndpoint? {
        get async {
            await withCheckedContinuation { continuation in
                handle.withGateway { continuation.resume(returning: $0) }
            }
        }
    }

    /// Logs out and returns at once. The last event is ``SignalingEvent/loggedOut(_:)`` with 101.
    public nonisolated func close() { handle.logOut() }

    /// Closes the connection without logging out: for others, the user stays online for `_conn_timeout` (120 s unless
    /// the user's attribute is set).
    public nonisolated func abandon() { handle.abandon() }

    /// Calls a function of the gateway.
    /// - Returns: the whole answer.
    /// - Throws: the gateway's refusal; or the client's own `cancelled`, `interrupted`, `timeout`, `queue_full` or
    ///   `logged_out`.
    func call(_ function: String, _ arguments: [JSONMember]) async throws(SignalingError) -> JSONValue {
        let answer = OneTimeResult<JSONValue, SignalingError>()
        let ticket = handle.call(function, arguments) { answer.finish($0) }
        return try await answer.value { [handle] in handle.cancel(ticket) }
    }
}
