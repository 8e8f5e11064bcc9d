package import SignalingProtocol

/// Where a session lives, as a gateway's set of sessions names it: a line without its secret.
package struct SessionRoute: Hashable, Sendable {
    /// Whose.
    package var user: UserKey
    /// Which.
    package var session: SessionID

    /// Joins the two.
    package init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }

    /// Reads a member of the set; nil for another form.
    package init?(text: String) {
        guard let line = try? Line(wire: text) else { return nil }
        self.init(user: line.user, session: line.session)
    }

    /// The member of the set.
    package var text: String { Line(user: user, session: session, secret: "-").wire }
}
