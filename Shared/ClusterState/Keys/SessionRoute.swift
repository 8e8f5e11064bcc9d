package import SignalingProtocol

/// A member of the set ``KeySpace/routes(_:bucket:)``: a session whose record names the gateway.
package struct SessionRoute: Hashable, Sendable {
    /// The session's user.
    package var user: UserKey
    /// The session's id.
    package var session: SessionID

    /// Creates a route.
    package init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }

    /// Parses a member of the set, `SESSION a:APP:u:ACCOUNT`; nil when it has another form.
    package init?(text: String) {
        guard let id = Self.session(of: text) else { return nil }
        let parts = text.utf8.dropFirst(id.rawValue.utf8.count + 1)
            .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard parts.count == 4, parts[0] == "a", parts[2] == "u",
            let app = PercentEscape.unescape(parts[1]).flatMap({ try? AppID($0) }),
            let account = PercentEscape.unescape(parts[3]).flatMap({ try? Account($0) })
        else { return nil }
        self.init(user: UserKey(app: app, account: account), session: id)
    }

    /// The session of a member of the set, without parsing the rest; nil when there is none.
    package static func session(of text: String) -> SessionID? {
        guard let space = text.utf8.firstIndex(of: UInt8(ascii: " ")), space != text.startIndex else { return nil }
        return SessionID(String(text[..<space]))
    }

    /// The route as a member of the set. The functions of presence form the same (`routes.lua`).
    package var text: String { "\(session.rawValue) \(KeySpace.name(user))" }
}
