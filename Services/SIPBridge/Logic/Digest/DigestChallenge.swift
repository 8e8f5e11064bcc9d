internal import SignalingProtocol

/// A digest challenge: a `WWW-Authenticate` or `Proxy-Authenticate` value.
package struct DigestChallenge: Equatable, Sendable {
    /// The realm: identifies the set of users.
    package var realm: String
    /// The server's nonce.
    package var nonce: String
    /// Opaque text, returned unchanged.
    package var opaque: String?
    /// The algorithm.
    package var algorithm: DigestAlgorithm
    /// Whether `qop=auth` is offered; without it, the older form of RFC 2069 is used.
    package var hasQuality: Bool
    /// Whether the credentials were right and only the nonce has expired.
    package var isStale: Bool

    /// Parses one value of WWW-Authenticate or Proxy-Authenticate; nil when we cannot answer it: another scheme or
    /// algorithm, or `auth-int` only.
    package init?(_ value: String) {
        guard let parameters = DigestParameters(value), let realm = parameters["realm"],
            let nonce = parameters["nonce"], !nonce.isEmpty,
            let algorithm = DigestAlgorithm(parameter: parameters["algorithm"])
        else { return nil }
        let qualities = parameters["qop"].map { text in
            text.split(separator: ",").map { SIPText.trimmed($0).lowercased() }
        }
        if let qualities, !qualities.contains("auth") { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        self.algorithm = algorithm
        hasQuality = qualities != nil
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// The first of several challenges that we can answer. Source: RFC 7616 section 3.7, RFC 8760 section 2.4.
    package static func first(of values: [String]) -> DigestChallenge? {
        values.lazy.compactMap { DigestChallenge($0) }.first
    }
}

/// User name and password for digest authentication.
package struct DigestCredentials: Equatable, Sendable {
    /// The user's name at the server.
    package var username: String
    /// The password. Never logged.
    package var password: String

    /// Creates credentials.
    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// The value of Authorization or Proxy-Authorization that answers a challenge.
    /// - Parameters:
    ///   - uri: the request URI as sent.
    ///   - cnonce: the client nonce: unpredictable text.
    ///   - count: the number of requests with this nonce, including this one.
    package func authorization(
        for challenge: DigestChallenge, method: String, uri: String, cnonce: String, count: UInt32
    ) -> String {
        let padded = Hex.text(count)
        let calculation = DigestCalculation(
            algorithm: challenge.algorithm, username: username, realm: challenge.realm, password: password,
            nonce: challenge.nonce, quality: challenge.hasQuality ? (padded, cnonce) : nil)
        var parts = [
            "username=\"\(SIPEncoding.quoted(username))\"", "realm=\"\(SIPEncoding.quoted(challenge.realm))\"",
            "nonce=\"\(SIPEncoding.quoted(challenge.nonce))\"", "uri=\"\(uri)\"",
            "response=\"\(calculation.response(method: method, uri: uri))\"",
            "algorithm=\(challenge.algorithm.rawValue)",
        ]
        if challenge.hasQuality { parts += ["qop=auth", "nc=\(padded)"] }
        if challenge.hasQuality || challenge.algorithm.isSession { parts.append("cnonce=\"\(cnonce)\"") }
        if let opaque = challenge.opaque { parts.append("opaque=\"\(SIPEncoding.quoted(opaque))\"") }
        return "Digest " + parts.joined(separator: ", ")
    }
}
