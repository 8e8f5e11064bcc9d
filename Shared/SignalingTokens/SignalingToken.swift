package import SignalingProtocol

/// The login token: `1:APP:EXPIRY:MD5`, where MD5 is over account + app id + certificate + expiry.
///
/// Source: "How to Get and Use a SignalingToken"; its test vector is in the tests.
package enum SignalingToken {
    /// What clients send when they have no token.
    package static let none = "_no_need_token"

    /// Makes a token.
    /// - Parameter expiry: Unix seconds.
    package static func make(account: String, app: AppID, certificate: String, expiry: Int64) -> String {
        "1:\(app):\(expiry):\(digest(account + app.rawValue + certificate + String(expiry)))"
    }

    /// Checks a token.
    /// - Parameters:
    ///   - now: Unix seconds.
    /// - Returns: the expiry, in Unix seconds.
    /// - Throws: ``SignalingCode/loginTokenWrong`` (`TokenError...`), or ``SignalingCode/loginTokenExpired``
    ///   (`TokenErrorExpired`) for a genuine token that has expired.
    @discardableResult
    package static func check(
        _ token: String, account: Account, app: AppID, certificate: String, now: Int64
    ) throws(SignalingError) -> Int64 {
        // An app id may contain colons, so the other fields are taken from both ends.
        let fields = token.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 4, fields[0] == "1", let expiry = Int64(fields[fields.count - 2]) else {
            throw SignalingError(.loginTokenWrong, .tokenErrorMalformed, "the token must be 1:app:expiry:md5")
        }
        guard fields[1..<(fields.count - 2)].joined(separator: ":").utf8.elementsEqual(app.rawValue.utf8) else {
            throw SignalingError(.loginTokenWrong, .tokenErrorApp, "the token is of another app")
        }
        // The digest covers the expiry exactly as written in the token; it is checked before the expiry.
        let expected = digest(account.rawValue + app.rawValue + certificate + fields[fields.count - 2])
        guard ConstantTime.equal(expected, fields[fields.count - 1].lowercased()) else {
            throw SignalingError(.loginTokenWrong, .tokenErrorDigest, "the token's digest is wrong")
        }
        guard expiry > now else {
            throw SignalingError(.loginTokenExpired, .tokenErrorExpired, "the token has expired")
        }
        return expiry
    }

    private static func digest(_ text: String) -> String { ContentDigest.md5.text(of: text) }
}
