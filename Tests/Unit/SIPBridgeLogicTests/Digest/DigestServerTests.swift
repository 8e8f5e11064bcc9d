import Pacing
import TestKit
import Testing

@testable import SIPBridgeLogic

@Suite("Digest: checking answers")
struct DigestServerTests {
    private var server = DigestServer(realm: "a \"b\"", secret: "s", lifetime: .seconds(1), maxNonces: 2)

    private func answer(
        _ challenge: SIPHeaderField, count: UInt32 = 1,
        as credentials: DigestCredentials = DigestCredentials(username: "u", password: "p"),
        uri: String = "sip:b@a.test", method: String = "INVITE"
    ) throws -> SIPMessage {
        let parsed = try #require(DigestChallenge(challenge.value))
        let value =
            credentials
            .authorization(for: parsed, method: method, uri: uri, cnonce: "c", count: count)
        return SIPSample.request("INVITE", headers: [SIPHeaderField("Authorization", value)])
    }

    private mutating func verdict(_ request: SIPMessage, now: LocalTime = 100) -> DigestServer.Verdict {
        server.check(request, now: now) { $0 == "u" ? "p" : nil }
    }

    @Test("Both algorithms are offered and accepted; a repeated nonce count is refused")
    mutating func accepted() throws {
        let challenges = server.challenges(now: 100, salt: "ab")
        #expect(challenges.map { DigestChallenge($0.value)?.algorithm } == [.md5, .sha256])
        for (index, challenge) in challenges.enumerated() {
            let request = try answer(challenge, count: UInt32(index + 1))
            #expect(verdict(request) == .accepted(username: "u"))
            #expect(verdict(request) == .stale)
        }
        #expect(verdict(try answer(challenges[0], count: 2)) == .stale)
        #expect(verdict(try answer(challenges[0], count: 9)) == .accepted(username: "u"))
    }

    @Test("Missing credentials, an expired nonce and a nonce of another server are not accepted")
    mutating func nonces() throws {
        #expect(verdict(SIPSample.request("INVITE")) == .missing)
        let challenge = server.challenges(now: 100, salt: "ab")[0]
        #expect(verdict(try answer(challenge), now: 1_100) == .stale)
        #expect(verdict(try answer(challenge), now: 99) == .stale)
        let foreign = DigestServer(realm: server.realm, secret: "t").challenges(now: 100, salt: "ab")[0]
        #expect(verdict(try answer(foreign)) == .stale)
        let other = DigestServer(realm: "other", secret: "s").challenges(now: 100, salt: "ab")[0]
        #expect(verdict(try answer(other)) == .missing)
    }

    @Test("A wrong password, user name, URI or method is refused")
    mutating func refused() throws {
        let challenge = server.challenges(now: 100, salt: "ab")[0]
        #expect(verdict(try answer(challenge, as: DigestCredentials(username: "u", password: "q"))) == .refused)
        #expect(verdict(try answer(challenge, as: DigestCredentials(username: "v", password: "p"))) == .refused)
        #expect(verdict(try answer(challenge, as: DigestCredentials(username: "v", password: ""))) == .refused)
        #expect(verdict(try answer(challenge, uri: "sip:c@a.test")) == .refused)
        #expect(verdict(try answer(challenge, method: "BYE")) == .refused)
        #expect(verdict(try answer(challenge, uri: "sip:b.test")) == .refused)
        #expect(verdict(try answer(challenge, uri: "sip:b@a.test;transport=udp")) == .accepted(username: "u"))
        #expect(verdict(try answer(challenge, count: 2, uri: "sip:a.test")) == .accepted(username: "u"))
    }

    @Test("Credentials without qop could be replayed, so they are refused")
    mutating func unprotected() throws {
        var challenge = try #require(DigestChallenge(server.challenges(now: 100, salt: "ab")[0].value))
        challenge.hasQuality = false
        let value = DigestCredentials(username: "u", password: "p")
            .authorization(for: challenge, method: "INVITE", uri: "sip:b@a.test", cnonce: "c", count: 1)
        #expect(verdict(SIPSample.request("INVITE", headers: [SIPHeaderField("Authorization", value)])) == .refused)
    }

    @Test("Past the bound of remembered nonces, new ones are refused until old ones expire")
    mutating func bound() throws {
        for salt in ["a", "b"] {
            #expect(verdict(try answer(server.challenges(now: 100, salt: salt)[0])) == .accepted(username: "u"))
        }
        let third = try answer(server.challenges(now: 200, salt: "c")[0])
        #expect(verdict(third, now: 200) == .stale)
        #expect(verdict(third, now: 1_150) == .accepted(username: "u"))
    }
}
