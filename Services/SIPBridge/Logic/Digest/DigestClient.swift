/// Answers the challenges of a peer (401) and of proxies on the way (407), for all requests of a dialog or
/// registration.
///
/// For each request: add ``headers(method:uri:cnonce:)``; on 401 or 407 call ``challenged(by:)`` and, if it returns
/// true, send the request again; on any other final response call ``concluded()``.
package struct DigestClient: Sendable {
    /// The largest number of challenges that one request answers; more would be a loop.
    package static let maxAttempts = 4

    /// The latest challenge of the server or of the proxy.
    private struct LatestChallenge {
        var challenge: DigestChallenge
        var count: UInt32 = 0
        /// Whether the request in progress has answered this challenge.
        var isAnswered = false
    }

    private let credentials: DigestCredentials
    private var server: LatestChallenge?
    private var proxy: LatestChallenge?
    private var attempts = 0

    /// Creates a client with these credentials.
    package init(credentials: DigestCredentials) { self.credentials = credentials }

    /// The header fields for the next request; none before the first challenge.
    package mutating func headers(method: String, uri: String, cnonce: String) -> [SIPHeaderField] {
        var fields: [SIPHeaderField] = []
        func answer(_ name: String, _ latest: inout LatestChallenge?) {
            guard var next = latest else { return }
            next.count += 1
            latest = next
            fields.append(
                SIPHeaderField(
                    name,
                    credentials.authorization(
                        for: next.challenge, method: method, uri: uri, cnonce: cnonce, count: next.count)))
        }
        answer("Authorization", &server)
        answer("Proxy-Authorization", &proxy)
        return fields
    }

    /// Takes a 401 or 407.
    /// - Returns: whether to send the request again; false when no challenge can be answered, when the credentials were
    ///   refused, and after ``maxAttempts``.
    package mutating func challenged(by response: SIPMessage) -> Bool {
        attempts += 1
        guard attempts <= Self.maxAttempts else { return false }
        switch response.status {
        case 401: return Self.take(response.headers("WWW-Authenticate"), &server)
        case 407: return Self.take(response.headers("Proxy-Authenticate"), &proxy)
        default: return false
        }
    }

    /// Called when the request has ended without a challenge.
    package mutating func concluded() {
        attempts = 0
        server?.isAnswered = false
        proxy?.isAnswered = false
    }

    private static func take(_ values: [String], _ latest: inout LatestChallenge?) -> Bool {
        guard let challenge = DigestChallenge.first(of: values) else { return false }
        // A repeated challenge means that the answer was wrong, unless only the nonce has expired.
        if let latest, latest.isAnswered, !challenge.isStale { return false }
        latest = LatestChallenge(challenge: challenge, isAnswered: true)
        return true
    }
}
