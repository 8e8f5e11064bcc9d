package import SignalingProtocol

/// A logged-in session as its calls need it: shared by reference, so that a call copies none of the session's strings.
package final class ActiveSession: Sendable {
    private let session: ConnectionStateMachine.Session
    /// Whose session it is.
    package var user: UserKey { session.line.user }
    /// The sender of the session's commands.
    package var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }
    /// Prefix of its messages' command ids, for clients that repeat unanswered sends after a resume; nil for others.
    private let messagePrefix: String?

    /// The session as presence has opened it, or moved it here.
    package init(_ session: ConnectionStateMachine.Session) {
        self.session = session
        messagePrefix = session.push ? "m.\(session.line.session)." : nil
    }

    /// The command id of a message that came with an id of the client's.
    package func command(forMessage id: String?) -> CommandID? {
        guard let messagePrefix, let id else { return nil }
        return CommandID(messagePrefix + PercentEscape.escape(id))
    }
}
