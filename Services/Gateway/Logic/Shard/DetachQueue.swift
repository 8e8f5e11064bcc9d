internal import DequeModule
package import SignalingProtocol

/// Sessions that lost their connection and whose detach presence has not confirmed yet.
///
/// Thousands of connections may be lost at once, and most clients reconnect soon. So only a few detaches are sent at
/// a time, and none for a session that is being resumed here: a resume makes the detach unnecessary.
package struct DetachQueue: Sendable {
    /// The most unanswered requests at a time.
    package static let bound = 64
    /// The most sessions that wait before those that presence may not have placed here are dropped. The others need no
    /// bound: each of them had a connection.
    package static let doubtfulBound = 10_000

    /// A detach to send to presence.
    package struct Request: Equatable, Sendable {
        /// The session without a connection.
        package let session: SessionID
        /// The session's user.
        package let user: UserKey
        /// This gateway's claim on the session; nil when it is not known.
        package let claim: Int64?
        fileprivate let number: Int
    }

    private enum Stage {
        /// In the queue. Next: `asked` or `held`.
        case waiting
        /// Taken out of the queue while it is being resumed. Next: `waiting`.
        case held
        /// The request with this number was sent. Next: `failed`, or removed when confirmed.
        case asked(Int)
        /// The request failed. Next: `waiting`, at the next ``retry()``.
        case failed
    }

    private struct Lost {
        let user: UserKey
        let claim: Int64?
        var stage: Stage
    }

    private var sessions: [SessionID: Lost] = [:]
    private var queue: Deque<SessionID> = []
    private var unanswered = 0
    private var requests = 0

    package init() {}

    /// The number of sessions whose detach is not confirmed.
    package var count: Int { sessions.count }

    /// Whether the session's detach is still to be confirmed.
    package func contains(_ session: SessionID) -> Bool { sessions[session] != nil }

    /// A session lost its connection.
    /// - Parameters:
    ///   - claim: this gateway's claim on the session; nil when it is not known.
    ///   - isDoubtful: whether presence may not have placed it here: its login or resume has failed.
    /// - Returns: false when too many wait, so that this one, which is doubtful, is not told.
    @discardableResult
    package mutating func lost(
        _ session: SessionID, of user: UserKey, claim: Int64? = nil, isDoubtful: Bool = false
    ) -> Bool {
        guard !isDoubtful || sessions.count < Self.doubtfulBound || sessions[session] != nil else { return false }
        wait(session, Lost(user: user, claim: claim, stage: .waiting))
        return true
    }

    /// The session has a connection again, so that its detach is dropped.
    package mutating func bound(_ session: SessionID) { sessions[session] = nil }

    /// No resume of the session is in progress here any more. After a successful one, ``bound(_:)`` was called first.
    package mutating func resumeEnded(_ session: SessionID) {
        if let lost = sessions[session], case .held = lost.stage { wait(session, lost) }
    }

    /// Queues the failed detaches again.
    package mutating func retry() {
        for (session, lost) in sessions {
            if case .failed = lost.stage { wait(session, lost) }
        }
    }

    /// The requests to send now; report the outcome of each by ``confirmed(_:)`` or ``failed(_:)``.
    package mutating func next(isResuming: (SessionID) -> Bool) -> [Request] {
        var next: [Request] = []
        while unanswered < Self.bound, let session = queue.popFirst() {
            guard let lost = sessions[session], case .waiting = lost.stage else { continue }
            guard !isResuming(session) else {
                sessions[session]?.stage = .held
                continue
            }
            requests += 1
            unanswered += 1
            sessions[session]?.stage = .asked(requests)
            next.append(Request(session: session, user: lost.user, claim: lost.claim, number: requests))
        }
        return next
    }

    /// Presence has confirmed a detach.
    package mutating func confirmed(_ request: Request) {
        unanswered -= 1
        if isCurrent(request) { sessions[request.session] = nil }
    }

    /// A detach was not confirmed; presence may or may not have received it.
    package mutating func failed(_ request: Request) {
        unanswered -= 1
        if isCurrent(request) { sessions[request.session]?.stage = .failed }
    }

    /// Whether the request is the session's latest: the session may have been resumed and lost again since.
    private func isCurrent(_ request: Request) -> Bool {
        if case .asked(request.number)? = sessions[request.session]?.stage { true } else { false }
    }

    private mutating func wait(_ session: SessionID, _ lost: Lost) {
        var waiting = lost
        waiting.stage = .waiting
        let known = sessions.updateValue(waiting, forKey: session)
        if case .waiting? = known?.stage { return }
        queue.append(session)
    }
}
