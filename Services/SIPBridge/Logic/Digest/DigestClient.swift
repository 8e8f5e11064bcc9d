/// Answers the challenges of one peer, by servers (401) and proxies (407) on the way, across the requests of a dialog or of a
/// registration.
///
/// Per request: ``headers(method:uri:cnonce:)`` with it; on 401 or 407 ``challenged(by:)``, and if that says so the same again
/// as a new request; on any other final response ``concluded()``.
package struct DigestClient: Sendable {
    /// Challenges that one request answers; more would be a loop.
    package static let maxAttempts = 4

    private struct Known {
        var challenge: DigestChallenge
        var count: UInt32 = 0
        /// Whether the request under way answered a challenge with this.
        var isAnswered = false
    }

    private let credentials: DigestCredentials
    private var server: Known?
    private var proxy: Known?
    private var attempts = 0

    /// Answers with these credentials.
    package init(credentials: DigestCredentials) { self.credentials = credentials }

    /// The header fields of the next request: none before the first challenge.
    package mutating func headers(method: String, uri: String, cnonce: String) -> [SIPHeaderField] {
        [
            Self.header("Authorization", &server, credentials, method, uri, cnonce),
            Self.header("Proxy-Authorization", &proxy, credentials, method, uri, cnonce),
        ].compactMap { $0 }
    }

    /// Takes a 401 or 407.
    /// - Returns: whether to send the request again; false when nothing in it can be answered, when the credentials were
    ///   refused, or when it goes round in circles.
    package mutating func challenged(by response: SIPMessage) -> Bool {
        attempts += 1
        guard attempts <= Self.maxAttempts else { return false }
        switch response.status {
        case 401: return Self.take(response.headers("WWW-Authenticate"), &server)
        case 407: return Self.take(response.headers("Proxy-Authenticate"), &proxy)
        default: return false
        }
    }

    /// The request came to its end, otherwise than by a challenge.
    package mutating func concluded() {
        attempts = 0
        server?.isAnswered = false
        proxy?.isAnswered = false
    }

    private static func take(_ values: [String], _ known: inout Known?) -> Bool {
        guard let challenge = DigestChallenge.first(of: values) else { return false }
        // The same question after an answer means that the answer was wrong, unless only the nonce was too old.
        if let known, known.isAnswered, !challenge.isStale { return false }
        known = Known(challenge: challenge, isAnswered: true)
        return true
    }

    private static func header(
        _ name: String, _ known: inout Known?, _ credentials: DigestCredentials, _ method: String, _ uri: String,
        _ cnonce: String
    ) -> SIPHeaderField? {
        guard known != nil else { return nil }
        known?.count += 1
        guard let known else { return nil }
        return SIPHeaderField(
            name,
            credentials.authorization(
                for: known.challenge, method: method, uri: uri, cnonce: cnonce, count: known.count))
    }
}
