public import SignalingProtocol

/// Where an invitation goes.
public enum CallRoute: Equatable, Sendable {
    /// To a user of the app.
    case user(Account)
    /// To a telephone: the number, `+` and digits.
    case telephone(Account)

    /// Decides by the shape of the callee's name.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` when it can be neither.
    public init(callee: String) throws(SignalingError) {
        let account: Account
        do { account = try Account(callee) } catch {
            throw SignalingError(.wrongParameter, "invalid_peer", "the peer is no account: \(error.message)")
        }
        let digits = callee.utf8.dropFirst()
        let isNumber = callee.utf8.first == UInt8(ascii: "+") && !digits.isEmpty && digits.count <= Self.longestNumber
        self =
            isNumber && digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            ? .telephone(account) : .user(account)
    }

    /// Digits of the longest telephone number (E.164 has 15; prefixes of exchanges add some).
    static let longestNumber = 20

    /// The name under which the callee's party of the call is kept.
    public var account: Account {
        switch self {
        case .user(let account), .telephone(let account): account
        }
    }
}
