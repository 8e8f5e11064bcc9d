/// Whether the client has a session.
enum SessionState: Equatable {
    /// No login has succeeded yet.
    case none
    /// A session that is in use, or can be resumed.
    case held(Session)
    /// The cluster has lost the session; the next login replaces it.
    case lost

    /// A session as described by its gateway.
    struct Session: Equatable {
        /// The secret that resumes the session, sent with every call.
        var line: String
        /// The account's numeric id.
        var uid: UInt32
        /// Whether the gateway pushes mailbox entries; otherwise the client polls for them.
        var push: Bool

        init(_ answer: ServerMessage.SessionAnswer) {
            line = answer.line
            uid = answer.uid
            push = answer.push
        }
    }

    var session: Session? {
        if case .held(let session) = self { session } else { nil }
    }
}
