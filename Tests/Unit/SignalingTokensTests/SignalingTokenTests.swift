import SignalingProtocol
import SignalingTokens
import Testing

@Suite struct SignalingTokenTests {
    private static let account = "2882341273"
    private static let app = "970CA35de60c44645bbae8a215061b33"
    private static let certificate = "5CFd2fd1755d40ecb72977518be15d3b"
    private static let expiry: Int64 = 1_514_219_634
    private static let digest = "82539e1f3973bcfe3f0d0c8993e6c051"
    private static let token = "1:\(app):\(expiry):\(digest)"

    private func check(
        _ token: String, account: String = Self.account, app: String = Self.app,
        certificate: String = Self.certificate, now: Int64 = 0
    ) throws -> Int64 {
        try SignalingToken.check(
            token, account: try Account(account), app: try AppID(app), certificate: certificate, now: now)
    }

    @Test func thePublicVector() throws {
        let made = SignalingToken.make(
            account: Self.account, app: try AppID(Self.app), certificate: Self.certificate, expiry: Self.expiry)
        #expect(made == Self.token)
        #expect(try check(Self.token) == Self.expiry)
    }

    @Test func anUpperCaseDigestIsTaken() throws {
        #expect(try check("1:\(Self.app):\(Self.expiry):\(Self.digest.uppercased())") == Self.expiry)
    }

    @Test(arguments: [
        ("", "TokenErrorMalformed"), (SignalingToken.none, "TokenErrorMalformed"), ("1:a:b", "TokenErrorMalformed"),
        ("1:\(app):soon:\(digest)", "TokenErrorMalformed"), ("1:\(app)::\(digest)", "TokenErrorMalformed"),
        ("2:\(app):\(expiry):\(digest)", "TokenErrorMalformed"), (" \(token)", "TokenErrorMalformed"),
        ("1:\(app.lowercased()):\(expiry):\(digest)", "TokenErrorApp"), ("1::\(expiry):\(digest)", "TokenErrorApp"),
        ("1:x:\(app):\(expiry):\(digest)", "TokenErrorApp"),
        ("1:\(app):\(expiry):\(digest)0", "TokenErrorDigest"), ("1:\(app):\(expiry):", "TokenErrorDigest"),
        ("1:\(app):\(expiry):\(digest.dropLast())0", "TokenErrorDigest"),
        // The digest covers the text of the expiry, so another text of the same number does not match.
        ("1:\(app):0\(expiry):\(digest)", "TokenErrorDigest"), ("1:\(app):\(expiry + 1):\(digest)", "TokenErrorDigest"),
    ])
    func everyFailure(token: String, reason: String) {
        #expect { try check(token) } throws: {
            ($0 as? SignalingError)?.code == .loginTokenWrong && ($0 as? SignalingError)?.reason.rawValue == reason
        }
    }

    @Test func theTokenIsOfOneAccountAppAndCertificate() {
        for act in [
            { try check(Self.token, account: "2882341274") }, { try check(Self.token, certificate: "x") },
            { try check(Self.token, app: "other") },
        ] {
            #expect { try act() } throws: { ($0 as? SignalingError)?.code == .loginTokenWrong }
        }
    }

    @Test func theClockIsLookedAtLast() throws {
        #expect(try check(Self.token, now: Self.expiry - 1) == Self.expiry)
        #expect { try check(Self.token, now: Self.expiry) } throws: {
            ($0 as? SignalingError)
                == SignalingError(.loginTokenExpired, .tokenErrorExpired, "the token has expired")
        }
        // For a token that is both forged and expired, the forgery is reported.
        #expect { try check("1:\(Self.app):1:\(Self.digest)", now: Self.expiry) } throws: {
            ($0 as? SignalingError)?.code == .loginTokenWrong
        }
    }

    @Test func anAppIDMayHaveColons() throws {
        let app = try AppID("a:1:b")
        let token = SignalingToken.make(account: "é", app: app, certificate: "", expiry: 10)
        #expect(try SignalingToken.check(token, account: try Account("é"), app: app, certificate: "", now: 9) == 10)
    }
}
