internal import GatewayLogic
internal import SignalingProtocol

/// A session that may act, and what its calls need of it, made once: a call takes one reference, not the session's texts.
final class ActiveSession {
    let session: ConnectionStateMachine.Session
    var user: UserKey { session.line.user }
    var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }
    /// What the ids of its messages begin with, for clients that repeat unanswered sends after a resume; nil for others.
    private let messagePrefix: String?

    init(_ session: ConnectionStateMachine.Session) {
        self.session = session
        messagePrefix = session.push ? "m.\(session.line.session)." : nil
    }

    /// The command id of a message that came with an id of the client's.
    func command(forMessage id: String?) -> CommandID? {
        guard let messagePrefix, let id else { return nil }
        return CommandID(messagePrefix + PercentEscape.escape(id))
    }
}
