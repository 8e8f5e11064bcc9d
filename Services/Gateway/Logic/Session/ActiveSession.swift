package import SignalingProtocol

/// A session that may act, and what its calls need of it, made once: a call takes one reference, not the session's texts.
package final class ActiveSession: Sendable {
    private let session: ConnectionStateMachine.Session
    /// Whose session it is.
    package var user: UserKey { session.line.user }
    /// Whom the services take a command from.
    package var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }
    /// What the ids of its messages begin with, for clients that repeat unanswered sends after a resume; nil for others.
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
