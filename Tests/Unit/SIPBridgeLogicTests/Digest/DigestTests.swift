import Testing

@testable import SIPBridgeLogic

@Suite("Digest authentication")
struct DigestTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    private static let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let mufasa = DigestCredentials(username: "Mufasa", password: "Circle of Life")

    private static func challenge(_ algorithm: String) -> String {
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), nonce=\"\(nonce)\", "
            + "opaque=\"\(opaque)\""
    }

    @Test(
        "The vectors of RFC 7616, section 3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func vectors(algorithm: String, response: String) throws {
        let challenge = try #require(DigestChallenge(Self.challenge(algorithm)))
        #expect(challenge.hasQuality && !challenge.isStale)
        let value = Self.mufasa.authorization(
            for: challenge, method: "GET", uri: "/dir/index.html", cnonce: Self.cnonce, count: 1)
        let parameters = try #require(DigestParameters(value))
        #expect(parameters["response"] == response)
        #expect(parameters["nc"] == "00000001")
        #expect(parameters["qop"] == "auth")
        #expect(parameters["opaque"] == Self.opaque)
        #expect(parameters["algorithm"] == algorithm)
    }

    @Test("The example of RFC 2617, and the form of RFC 2069 without qop")
    func oldForms() throws {
        let text = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let with = try #require(DigestChallenge(text + ", qop=\"auth,auth-int\""))
        let without = try #require(DigestChallenge(text))
        let credentials = DigestCredentials(username: "Mufasa", password: "Circle Of Life")
        func response(_ challenge: DigestChallenge) -> String? {
            let value = credentials.authorization(
                for: challenge, method: "GET", uri: "/dir/index.html", cnonce: "0a4f113b", count: 1)
            return DigestParameters(value)?["response"]
        }
        #expect(response(with) == "6629fae49393a05397450978507c4ef1")
        // Computed with the formula of RFC 2617, section 3.2.2.1.
        #expect(response(without) == "670fd8c2df070c60b045671b8b24ff02")
    }

    @Test("With an algorithm of the `-sess` kind the secret is hashed with both nonces")
    func session() throws {
        let challenge = try #require(
            DigestChallenge("Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5-sess"))
        let value = DigestCredentials(username: "u", password: "p").authorization(
            for: challenge, method: "INVITE", uri: "sip:a@b", cnonce: "c", count: 2)
        // Computed by Python's hashlib.
        #expect(DigestParameters(value)?["response"] == "9831e92bfdbd91fa79fc3f20c266dbbf")
    }

    @Test("The first challenge with a known algorithm is answered")
    func choice() {
        let values = [
            "Basic realm=\"x\"", Self.challenge("SHA-512-256"), "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"",
            Self.challenge("sha-256"), Self.challenge("MD5"),
        ]
        #expect(DigestChallenge.first(of: values)?.algorithm == .sha256)
        #expect(DigestChallenge.first(of: Array(values.prefix(3))) == nil)
    }

    @Test(
        "Malformed challenges are refused",
        arguments: [
            "Digest", "Digest realm", "Digest realm=\"a", "Digest realm=\"a\" nonce=\"b\"",
            "Digest realm=\"a\", realm=\"b\", nonce=\"c\"", "Digest realm=\"a\", nonce=\"\"", "",
        ])
    func malformed(text: String) { #expect(DigestChallenge(text) == nil) }

    @Test("Quotes and backslashes are escaped and unescaped")
    func quoting() throws {
        let challenge = try #require(DigestChallenge(#"Digest realm="a\"b\\c", nonce="n", stale=TRUE"#))
        #expect(challenge.realm == #"a"b\c"#)
        #expect(challenge.isStale)
        let value = DigestCredentials(username: "u\"v", password: "p").authorization(
            for: challenge, method: "BYE", uri: "sip:a", cnonce: "c", count: 1)
        let parameters = try #require(DigestParameters(value))
        #expect(parameters["realm"] == #"a"b\c"#)
        #expect(parameters["username"] == "u\"v")
        #expect(parameters["cnonce"] == nil && parameters["qop"] == nil)
    }
}
