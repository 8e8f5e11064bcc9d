package import BusProtocol
package import ClusterState
package import SignalingProtocol

/// A session that is logged in on a connection: who acts, for its calls and for the actions that need a user.
///
/// A class, so that an action carries one reference instead of the session's strings.
package final class ActiveSession: Sendable, Equatable {
    /// The session, as presence has opened it or moved it to this gateway.
    package let session: ConnectionStateMachine.Session
    /// The bucket of the session's user. Kept, because each message needs the user's keys, whose tag is made of it: the
    /// tag itself would take up much more memory, and the bucket is a checksum of the user's name.
    private let bucket: UInt16

    /// Creates it from a session that presence has opened or moved to this gateway.
    package init(_ session: ConnectionStateMachine.Session) {
        self.session = session
        bucket = UInt16(Buckets.bucket(of: KeySpace.name(session.line.user)))
    }

    /// The session's id.
    package var id: SessionID { session.line.session }
    /// The session's user.
    package var user: UserKey { session.line.user }
    /// The keys of the session's user.
    package var keys: UserKeys { UserKeys(user, inBucket: Int(bucket)) }
    /// The session and its user, as sent with commands.
    package var actor: Actor { Actor(user: session.line.user, uid: session.uid, session: session.line.session) }

    /// The command id of a message; nil when the client gave it no id, or does not repeat unanswered messages after a
    /// resume.
    package func command(forMessage id: String?) -> CommandID? {
        guard session.push, let id else { return nil }
        let (name, escaped) = (self.id.rawValue, PercentEscape.escape(id))
        var text = "m."
        text.reserveCapacity(name.utf8.count + escaped.utf8.count + 3)
        text += name
        text += "."
        text += escaped
        return CommandID(text)
    }

    package static func == (left: ActiveSession, right: ActiveSession) -> Bool { left.session == right.session }
}
