internal import DequeModule
package import SignalingProtocol

/// Sessions whose connection is gone and whose detaching presence has not confirmed.
///
/// Thousands may lose their connections at once, and most of those come back before presence could hear of it. So presence
/// is told of a few at a time, and not of a session that is being resumed here: a resume makes the detach unnecessary.
package struct DetachQueue: Sendable {
    /// Requests that await their answers at most.
    package static let bound = 64

    /// One detach to send to presence.
    package struct Request: Equatable, Sendable {
        /// The session without a connection.
        package let session: SessionID
        /// Whose it is.
        package let user: UserKey
        fileprivate let number: Int
    }

    private enum Stage {
        /// In the queue. Goes to `asked`, `held`.
        case waiting
        /// Passed over, because it is being resumed. Goes to `waiting`.
        case held
        /// Presence was told, under this number. Goes to `failed`, or is confirmed.
        case asked(Int)
        /// Presence did not confirm it. Goes to `waiting` with the next ``retry()``.
        case failed
    }

    private var sessions: [SessionID: (user: UserKey, stage: Stage)] = [:]
    private var queue: Deque<SessionID> = []
    private var unanswered = 0
    private var requests = 0

    /// An empty queue.
    package init() {}

    /// How many are not confirmed.
    package var count: Int { sessions.count }

    /// Whether presence is to be told of the session.
    package func contains(_ session: SessionID) -> Bool { sessions[session] != nil }

    /// A session's connection is gone.
    package mutating func lost(_ session: SessionID, of user: UserKey) {
        wait(session, of: user)
    }

    /// A connection has the session (again).
    package mutating func bound(_ session: SessionID) { sessions[session] = nil }

    /// No resume of the session is under way here any more. Where it had succeeded, ``bound(_:)`` came first.
    package mutating func resumeEnded(_ session: SessionID) {
        if case (let user, .held)? = sessions[session] { wait(session, of: user) }
    }

    /// What failed waits again.
    package mutating func retry() {
        for case (let session, (let user, .failed)) in sessions { wait(session, of: user) }
    }

    /// The requests to send now; each is to be ``confirmed(_:)`` or ``failed(_:)``.
    package mutating func next(isResuming: (SessionID) -> Bool) -> [Request] {
        var next: [Request] = []
        while unanswered < Self.bound, let session = queue.popFirst() {
            guard case (let user, .waiting)? = sessions[session] else { continue }
            guard !isResuming(session) else {
                sessions[session] = (user, .held)
                continue
            }
            requests += 1
            unanswered += 1
            sessions[session] = (user, .asked(requests))
            next.append(Request(session: session, user: user, number: requests))
        }
        return next
    }

    /// Presence has confirmed a detach.
    package mutating func confirmed(_ request: Request) {
        unanswered -= 1
        if isCurrent(request) { sessions[request.session] = nil }
    }

    /// A detach was not confirmed; presence may not have received it.
    package mutating func failed(_ request: Request) {
        unanswered -= 1
        if isCurrent(request) { sessions[request.session] = (request.user, .failed) }
    }

    /// Whether the answer still matters: the session may have been resumed and lost again meanwhile.
    private func isCurrent(_ request: Request) -> Bool {
        if case (_, .asked(request.number))? = sessions[request.session] { true } else { false }
    }

    private mutating func wait(_ session: SessionID, of user: UserKey) {
        let known = sessions.updateValue((user, .waiting), forKey: session)
        if case .waiting? = known?.stage { return }
        queue.append(session)
    }
}
