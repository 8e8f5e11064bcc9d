package import SignalingTokens

/// The algorithms of digest authentication; the raw value is the one of the `algorithm` parameter. Source: RFC 7616
/// section 3.2, RFC 8760.
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"
    case md5 = "MD5"
    case md5Session = "MD5-sess"

    /// Parses the parameter, in any case; nil, a challenge without one, means MD5.
    package init?(parameter: String?) {
        guard let parameter else {
            self = .md5
            return
        }
        guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == parameter.lowercased() }) else {
            return nil
        }
        self = found
    }

    /// The hash function.
    package var digest: ContentDigest {
        switch self {
        case .sha256, .sha256Session: .sha256
        case .md5, .md5Session: .md5
        }
    }

    var isSession: Bool {
        switch self {
        case .sha256Session, .md5Session: true
        case .sha256, .md5: false
        }
    }
}

/// The calculation of both sides of digest authentication.
struct DigestCalculation {
    var algorithm: DigestAlgorithm
    var username: String
    var realm: String
    var password: String
    var nonce: String
    /// The nonce count and the client nonce, with `qop=auth`; nil for the older form of RFC 2069.
    var quality: (count: String, cnonce: String)?

    /// The `response` parameter. Source: RFC 7616 section 3.4.1.
    func response(method: String, uri: String) -> String {
        let hash = algorithm.digest.text(of:)
        var secret = hash("\(username):\(realm):\(password)")
        if algorithm.isSession { secret = hash("\(secret):\(nonce):\(quality?.cnonce ?? "")") }
        let act = hash("\(method):\(uri)")
        guard let quality else { return hash("\(secret):\(nonce):\(act)") }
        return hash("\(secret):\(nonce):\(quality.count):\(quality.cnonce):auth:\(act)")
    }
}
