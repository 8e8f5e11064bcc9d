package import SignalingProtocol

/// A member of a gateway's set of sessions: a line without its secret.
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

    /// Parses a member of the set; nil when it has another form.
    package init?(text: String) {
        guard let line = try? Line(wire: text) else { return nil }
        self.init(user: line.user, session: line.session)
    }

    /// The route as a member of the set.
    package var text: String { Line(user: user, session: session, secret: "-").wire }
}
