package import SignalingProtocol

/// Where an invitation goes, judged by the callee's name and the `extra`.
package enum CallRoute: Equatable, Sendable {
    /// To a user of the app.
    case user(Account)
    /// To a telephone: `+` and digits, a `tel:` or a `sip:` URI.
    case telephone(Account)
    /// To a telephone if the app has a trunk, else to a user: digits only, or any name together with `srcNum`.
    case either(Account)

    /// Determines the route.
    /// - Parameter showsNumber: whether the caller wants a number to be shown (`srcNum`), which only telephones do.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` when the name is neither an account nor a
    ///   number.
    package init(callee: String, showsNumber: Bool = false) throws(SignalingError) {
        let account: Account
        do { account = try Account(callee) } catch {
            throw SignalingError(.wrongParameter, .invalidPeer, "the peer is not a valid account: \(error.message)")
        }
        if Self.isURI(callee) || callee.first == "+" && Self.isNumber(callee.utf8.dropFirst(), from: 1) {
            self = .telephone(account)
        } else if showsNumber || Self.isNumber(callee.utf8[...], from: Self.shortestNumber) {
            self = .either(account)
        } else {
            self = .user(account)
        }
    }

    /// Digits of the longest telephone number: E.164 allows 15, and exchanges' prefixes add some.
    static let longestNumber = 20
    /// Digits of the shortest telephone number without `+`.
    static let shortestNumber = 3

    /// The account under which the callee is recorded in the call.
    package var account: Account {
        switch self {
        case .user(let account), .telephone(let account), .either(let account): account
        }
    }

    private static func isNumber(_ text: Substring.UTF8View, from shortest: Int) -> Bool {
        (shortest...longestNumber).contains(text.count)
            && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Whether the text starts with `tel:` or `sip:`, in any case, and continues.
    private static func isURI(_ text: String) -> Bool {
        text.utf8.count > 4 && ["tel:", "sip:"].contains(text.prefix(4).lowercased())
    }
}
