package import Pacing
internal import SignalingProtocol
internal import SignalingTokens

/// The server's side of digest authentication: creates challenges and checks answers.
///
/// A nonce contains its time and is signed, so only used nonces are remembered, each with its highest count. An
/// overheard answer can therefore not be replayed. Source: RFC 7616.
package struct DigestServer: Sendable {
    /// The outcome of a check.
    package enum Verdict: Equatable, Sendable {
        /// The answer is right.
        case accepted(username: String)
        /// There is no answer for our realm: send a challenge.
        case missing
        /// The answer is right, but its nonce has expired or was used with this count before: send a challenge with
        /// `stale`.
        case stale
        /// The answer is wrong.
        case refused
    }

    /// The realm of the users.
    package let realm: String
    /// How long a nonce is valid.
    package let lifetime: Duration
    /// The number of remembered nonces; above it, answers count as stale until some nonces expire.
    package let maxNonces: Int

    /// A nonce that an answer has used.
    private struct UsedNonce {
        var count: UInt64
        var expiry: LocalTime
    }
    private let secret: String
    private var usedNonces: [String: UsedNonce] = [:]

    /// Creates a server.
    /// - Parameter secret: signs nonces; known only to this process.
    package init(realm: String, secret: String, lifetime: Duration = .seconds(300), maxNonces: Int = 10_000) {
        self.realm = realm
        self.secret = secret
        self.lifetime = lifetime
        self.maxNonces = maxNonces
    }

    /// The values of WWW-Authenticate, for MD5 and SHA-256.
    ///
    /// MD5 comes first, because old peers look only at the first challenge and give up if they do not support it (sipp
    /// 3.6).
    /// - Parameter salt: unpredictable hexadecimal digits.
    package func challenges(now: LocalTime, salt: String, isStale: Bool = false) -> [SIPHeaderField] {
        let nonce = signed("\(Hex.text(UInt64(bitPattern: now.milliseconds))).\(salt)")
        let stale = isStale ? ", stale=true" : ""
        return [DigestAlgorithm.md5, .sha256].map { algorithm in
            SIPHeaderField(
                "WWW-Authenticate",
                "Digest realm=\"\(SIPEncoding.quoted(realm))\", nonce=\"\(nonce)\", algorithm=\(algorithm.rawValue), "
                    + "qop=\"auth\"\(stale)")
        }
    }

    /// Checks a request's Authorization.
    /// - Parameter password: returns a user's password; nil when there is no such user.
    package mutating func check(_ request: SIPMessage, now: LocalTime, password: (String) -> String?) -> Verdict {
        let answers = request.headers("Authorization").compactMap { DigestParameters($0) }
        guard let answer = answers.first(where: { $0["realm"] == realm }) else { return .missing }
        guard let username = answer["username"], let nonce = answer["nonce"], let uri = answer["uri"],
            let response = answer["response"], let cnonce = answer["cnonce"],
            answer["qop"]?.lowercased() == "auth", let algorithm = DigestAlgorithm(parameter: answer["algorithm"]),
            let text = answer["nc"], text.utf8.count == 8, let count = Hex.number(text), count > 0,
            let requestURI = request.requestURI?.text, Self.isSame(uri, requestURI)
        else { return .refused }
        guard let made = time(of: nonce) else { return .stale }
        let secret = password(username)
        let calculation = DigestCalculation(
            algorithm: algorithm, username: username, realm: realm, password: secret ?? "", nonce: nonce,
            quality: (text, cnonce))
        let expected = calculation.response(method: request.method, uri: uri)
        // Compared for unknown names too, so that the response time does not reveal which names exist.
        let isRight = ConstantTime.equal(expected, response.lowercased())
        guard isRight, secret != nil else { return .refused }
        guard made <= now, now - made < lifetime else { return .stale }
        return use(nonce, count: count, expiry: made + lifetime, now: now) ? .accepted(username: username) : .stale
    }

    private mutating func use(_ nonce: String, count: UInt64, expiry: LocalTime, now: LocalTime) -> Bool {
        if let known = usedNonces[nonce] {
            guard count > known.count else { return false }
        } else if usedNonces.count >= maxNonces {
            usedNonces = usedNonces.filter { $0.value.expiry > now }
            guard usedNonces.count < maxNonces else { return false }
        }
        usedNonces[nonce] = UsedNonce(count: count, expiry: expiry)
        return true
    }

    private func signed(_ text: String) -> String { "\(text).\(ContentDigest.sha256.text(of: text, key: secret))" }

    /// When a nonce was created; nil when it is not ours.
    private func time(of nonce: String) -> LocalTime? {
        guard let dot = nonce.lastIndex(of: ".") else { return nil }
        let text = String(nonce[..<dot])
        guard ConstantTime.equal(signed(text), nonce) else { return nil }
        return Hex.number(text.prefix { $0 != "." }).map { LocalTime(milliseconds: Int64(bitPattern: $0)) }
    }

    /// Whether the URI in an answer is the requested one. Parameters are not compared, because they may be changed on
    /// the way, and some senders (sipp) name only the host.
    private static func isSame(_ named: String, _ requested: String) -> Bool {
        let named = named.prefix { $0 != ";" }
        let requested = requested.prefix { $0 != ";" }
        guard let at = requested.lastIndex(of: "@"), !named.contains("@") else { return named == requested }
        return named == "\(requested.prefix { $0 != ":" }):\(requested[at...].dropFirst())"
    }
}
