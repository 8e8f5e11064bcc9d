package import BusProtocol
package import ClusterState
package import SignalingProtocol

/// A session that is logged in on a connection: who acts, for its calls and for the actions that need a user.
///
/// A class, so that an action carries one reference instead of the session's strings.
package final class ActiveSession: Sendable, Equatable {
    /// The session, as presence has opened it or moved it to this gateway.
    package let session: ConnectionStateMachine.Session
    /// The keys of the session's user. Kept, because each message needs their tag, which
    /// contains a checksum of the name.
    package let keys: UserKeys
    /// The prefix of its messages' command ids; nil unless the client repeats unanswered messages after a resume.
    private let messagePrefix: String?

    /// Creates it from a session that presence has opened or moved to this gateway.
    package init(_ session: ConnectionStateMachine.Session) {
        self.session = session
        keys = UserKeys(session.line.user)
        messagePrefix = session.push ? "m.\(session.line.session)." : nil
    }

    /// The session's id.
    package var id: SessionID { session.line.session }
    /// The session's user.
    package var user: UserKey { session.line.user }
    /// The session and its user, as sent with commands.
    package var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }

    /// The command id of a message; nil when the client gave it no id, or does not repeat messages.
    package func command(forMessage id: String?) -> CommandID? {
        guard let messagePrefix, let id else { return nil }
        return CommandID(messagePrefix + PercentEscape.escape(id))
    }

    package static func == (left: ActiveSession, right: ActiveSession) -> Bool { left.session == right.session }
}
