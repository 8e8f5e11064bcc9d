/// The secret text that resumes a session: given to the client at login and sent back with every call.
///
/// It contains everything that any gateway needs to resume the session: `SESSION.SECRET.APP.ACCOUNT`, the last two
/// escaped. Never logged.
package struct Line: Hashable, Sendable {
    /// The user that the session belongs to.
    package let user: UserKey
    /// The session's id.
    package let session: SessionID
    /// The line as clients send it. It is kept, and the secret is not, because every call is compared with it, and each
    /// text of a session takes up memory of its connection.
    package let wire: String

    /// Creates the line of a new session.
    /// - Parameter secret: see ``secret``.
    package init(user: UserKey, session: SessionID, secret: String) {
        self.user = user
        self.session = session
        let id = session.rawValue
        let rest = [secret, PercentEscape.escape(user.app.rawValue), PercentEscape.escape(user.account.rawValue)]
        var wire = ""
        // A text that grows keeps room for more.
        wire.reserveCapacity(rest.reduce(id.utf8.count) { $0 + 1 + $1.utf8.count })
        wire += id
        for part in rest {
            wire += "."
            wire += part
        }
        self.wire = wire
    }

    /// 32 hexadecimal digits in lower case, unguessable.
    package var secret: String {
        let afterSession = wire.utf8.dropFirst(session.rawValue.utf8.count + 1)
        return String(Substring(afterSession.prefix { $0 != UInt8(ascii: ".") }))
    }

    /// The same line, with its user's app as the same text that `app` is in memory. Sessions of an app then share it.
    package func sharing(_ app: AppID) -> Line { Line(UserKey(app: app, account: user.account), session, wire) }

    private init(_ user: UserKey, _ session: SessionID, _ wire: String) {
        self.user = user
        self.session = session
        self.wire = wire
    }

    /// The most bytes that a session's id in a line may have.
    package static let sessionBytes = 64
    /// The random bytes of a secret, each of them two digits.
    package static let secretBytes = 16

    /// Parses a line that a client sent. Only what a gateway may have made is accepted, because a line that does not
    /// exist costs the cluster a command.
    /// - Throws: `SignalingError` (``SignalingCode/notLoggedIn``, `bad_line`) when the text does not have the form of a
    ///   line.
    package init(wire: String) throws(SignalingError) {
        let parts = wire.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let bad = SignalingError(.notLoggedIn, .badLine, "the line is malformed")
        guard parts.count == 4, Self.isSession(parts[0]), Self.isSecret(parts[1]),
            let app = PercentEscape.unescape(parts[2]), let account = PercentEscape.unescape(parts[3])
        else { throw bad }
        let user: UserKey
        do {
            user = UserKey(app: try AppID(app), account: try Account(account))
        } catch {
            throw bad
        }
        self.init(user: user, session: SessionID(parts[0]), secret: parts[1])
    }

    private static func isSession(_ text: String) -> Bool {
        (1...sessionBytes).contains(text.utf8.count) && text.utf8.allSatisfy(Self.isOfSession)
    }

    /// Gateways name sessions by letters, digits and hyphens.
    private static func isOfSession(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func isSecret(_ text: String) -> Bool {
        text.utf8.count == 2 * secretBytes
            && text.utf8.allSatisfy {
                Hex.value(of: $0) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0)
            }
    }
}
