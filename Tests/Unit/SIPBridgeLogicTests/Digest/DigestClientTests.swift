import Testing

@testable import SIPBridgeLogic

@Suite("Digest: answering challenges")
struct DigestClientTests {
    private var client = DigestClient(credentials: DigestCredentials(username: "u", password: "p"))

    private static func challenge(_ status: Int, nonce: String, isStale: Bool = false) -> SIPMessage {
        let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
        let stale = isStale ? ", stale=true" : ""
        return SIPSample.response(
            status, headers: [SIPHeaderField(name, "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"\(stale)")])
    }

    private mutating func retries(_ response: SIPMessage) -> Bool { client.challenged(by: response) }

    private mutating func sent() -> [DigestParameters?] {
        client.headers(method: "INVITE", uri: "sip:b@a.test", cnonce: "c").map { DigestParameters($0.value) }
    }

    @Test("No credentials before a challenge; afterwards each request has the next nonce count")
    mutating func counting() {
        #expect(sent().isEmpty)
        #expect(retries(Self.challenge(401, nonce: "n1")))
        #expect(sent().map { $0?["nc"] } == ["00000001"])
        client.concluded()
        #expect(sent().map { $0?["nc"] } == ["00000002"])
    }

    @Test("The same challenge after an answer means refusal; a stale nonce is replaced")
    mutating func refusal() {
        #expect(retries(Self.challenge(401, nonce: "n1")))
        _ = sent()
        #expect(retries(Self.challenge(401, nonce: "n2", isStale: true)))
        #expect(sent().map { $0?["nonce"] } == ["n2"])
        #expect(!retries(Self.challenge(401, nonce: "n3")))
    }

    @Test("A nonce of an earlier request may have expired without `stale`")
    mutating func expired() {
        #expect(retries(Self.challenge(407, nonce: "n1")))
        _ = sent()
        client.concluded()
        _ = sent()
        #expect(retries(Self.challenge(407, nonce: "n2")))
        #expect(sent().map { $0?["nonce"] } == ["n2"])
        #expect(!retries(Self.challenge(407, nonce: "n3")))
    }

    @Test("A proxy and the server behind it are both answered")
    mutating func both() {
        #expect(retries(Self.challenge(407, nonce: "p")))
        _ = sent()
        #expect(retries(Self.challenge(401, nonce: "s")))
        let fields = client.headers(method: "INVITE", uri: "sip:b", cnonce: "c")
        #expect(fields.map(\.name) == ["Authorization", "Proxy-Authorization"])
    }

    @Test("A peer that calls every nonce stale is given up")
    mutating func circles() {
        var answers = 0
        while client.challenged(by: Self.challenge(401, nonce: "n\(answers)", isStale: true)) { answers += 1 }
        #expect(answers == DigestClient.maxAttempts)
    }
}
