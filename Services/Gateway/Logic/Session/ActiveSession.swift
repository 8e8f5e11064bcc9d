package import ClusterState
package import SignalingProtocol

/// The parts of a logged-in session that its calls need. A class, so that a call does not copy the session's strings.
package final class ActiveSession: Sendable {
    private let session: ConnectionStateMachine.Session
    /// The session's user.
    package var user: UserKey { session.line.user }
    /// The keys of the session's user. Kept, because each message needs their tag, which contains a checksum of the name.
    package let keys: UserKeys
    /// The session and its user, as sent with commands.
    package var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }
    /// The prefix of its messages' command ids; nil unless the client repeats unanswered messages after a resume.
    private let messagePrefix: String?

    /// Creates it from a session that presence has opened or moved to this gateway.
    package init(_ session: ConnectionStateMachine.Session) {
        self.session = session
        keys = UserKeys(session.line.user)
        messagePrefix = session.push ? "m.\(session.line.session)." : nil
    }

    /// The command id of a message; nil when the client gave it no id, or does not repeat messages.
    package func command(forMessage id: String?) -> CommandID? {
        guard let messagePrefix, let id else { return nil }
        return CommandID(messagePrefix + PercentEscape.escape(id))
    }
}
