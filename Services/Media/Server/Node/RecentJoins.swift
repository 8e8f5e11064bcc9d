internal import DequeModule
internal import SignalingProtocol

/// What joins were answered, because a command may be delivered again: also when its participant has left meanwhile.
struct RecentJoins: Sendable {
    /// How long an answer is kept: longer than the deadline of a command.
    static let kept = Duration.seconds(10)
    /// Answers that are kept at most; beyond them the oldest is forgotten.
    static let most = 8192

    typealias Answer = Result<MediaJoined, MediaRefusal>

    private enum State {
        /// With those who wait for the answer too.
        case underway([CheckedContinuation<Answer, Never>])
        case answered(Answer)
    }

    private var states: [ParticipantID: State] = [:]
    private var order: Deque<(pid: ParticipantID, until: ContinuousClock.Instant)> = []

    /// Begins a join.
    /// - Returns: false when there was one already, whose answer ``answer(of:waiting:)`` tells.
    mutating func begin(_ pid: ParticipantID, now: ContinuousClock.Instant) -> Bool {
        while let first = order.first, first.until <= now { forget(first.pid) }
        guard states[pid] == nil else { return false }
        states[pid] = .underway([])
        return true
    }

    /// Hands the answer to `waiting`, at once or as soon as there is one.
    /// - Returns: false for an unknown join.
    mutating func wait(for pid: ParticipantID, _ waiting: CheckedContinuation<Answer, Never>) -> Bool {
        switch states[pid] {
        case .underway(let others): states[pid] = .underway(others + [waiting])
        case .answered(let answer): waiting.resume(returning: answer)
        case nil: return false
        }
        return true
    }

    /// Whether a join is under way.
    func isUnderway(_ pid: ParticipantID) -> Bool {
        if case .underway = states[pid] { true } else { false }
    }

    mutating func finish(_ pid: ParticipantID, _ answer: Answer, now: ContinuousClock.Instant) {
        if case .underway(let waiting) = states[pid] { for one in waiting { one.resume(returning: answer) } }
        states[pid] = .answered(answer)
        order.append((pid, now + Self.kept))
        while order.count > Self.most { if let first = order.first { forget(first.pid) } }
    }

    private mutating func forget(_ pid: ParticipantID) {
        order.removeFirst()
        states[pid] = nil
    }
}

/// How many joins there were in this second.
struct JoinRate: Sendable {
    let perSecond: Int
    private var began: ContinuousClock.Instant?
    private var count = 0

    init(perSecond: Int) { self.perSecond = perSecond }

    /// - Returns: false when the join is one too many.
    mutating func take(now: ContinuousClock.Instant) -> Bool {
        if began.map({ $0 + .seconds(1) <= now }) ?? true {
            began = now
            count = 0
        }
        guard count < perSecond else { return false }
        count += 1
        return true
    }
}
