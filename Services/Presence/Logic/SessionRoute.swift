public import SignalingProtocol

/// Where a session lives, as a gateway's set of sessions names it: a line without its secret.
public struct SessionRoute: Hashable, Sendable {
    /// Whose.
    public var user: UserKey
    /// Which.
    public var session: SessionID

    /// Joins the two.
    public init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }

    /// Reads a member of the set; nil for another form.
    public init?(text: String) {
        guard let line = try? Line(wire: text) else { return nil }
        self.init(user: line.user, session: line.session)
    }

    /// The member of the set.
    public var text: String { Line(user: user, session: session, secret: "-").wire }
}
