internal import GatewayAPILogic
internal import HummingbirdCore
internal import SignalingWire

/// An answer of the server API, without the headers that all have.
struct APIAnswer: Sendable {
    let status: Int
    let body: [UInt8]
    var contentType = "application/json"
    /// Sends the body instead of ``body``, piece by piece.
    var stream: (@Sendable (inout any ResponseBodyWriter) async throws -> Void)?
    /// Names and values of further headers.
    var headers: [(name: String, value: String)] = []

    /// - Parameter json: what operations answer; a text is answered as it is, as metrics are.
    init(status: Int = 200, _ json: JSONValue) {
        self.status = status
        if case .string(let text) = json {
            body = Array(text.utf8)
            contentType = "text/plain; version=0.0.4; charset=utf-8"
            return
        }
        var bytes: [UInt8] = []
        json.append(to: &bytes)
        body = bytes
    }

    /// A stream of events.
    init(events: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void) {
        status = 200
        body = []
        contentType = "text/event-stream"
        stream = events
        // Proxies must not hold events back.
        headers = [("X-Accel-Buffering", "no")]
    }

    /// An answer that was given before.
    init(repeating body: [UInt8], status: Int) {
        self.status = status
        self.body = body
        headers = [("Idempotency-Replayed", "true")]
        if status >= 400 { contentType = Self.problemType }
    }

    init(_ problem: APIProblem) {
        self.init(status: problem.code.status, problem.json)
        contentType = Self.problemType
        if !problem.allowed.isEmpty { headers.append(("Allow", problem.allowed.joined(separator: ", "))) }
        if problem.code == .unauthenticated { headers.append(("WWW-Authenticate", "Bearer")) }
        if let seconds = problem.retryAfter { headers.append(("Retry-After", String(seconds))) }
    }

    private static let problemType = "application/problem+json"
}
