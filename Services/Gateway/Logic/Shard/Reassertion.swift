internal import DequeModule
package import SignalingProtocol

/// The sessions and members that a gateway still has to reassert to presence and channel-state, after Redis may have
/// lost them.
///
/// Sessions go first. A request has sessions of one partition of the bus only, so that it cannot fail because of
/// another partition's master. Members follow once presence has answered for their sessions. Requests that failed are
/// sent again after ``retry(_:)``.
package struct Reassertion: Sendable {
    /// The most sessions, or members of one channel, in one request.
    package static let page = 250
    /// The most unanswered requests at a time.
    package static let bound = 4

    /// A request to send.
    package enum Request: Equatable, Sendable {
        /// Reassert these sessions, of users of a partition, to presence.
        case sessions([SessionID], partition: Int)
        /// Reassert the users of these sessions to channel-state, as members of the channel.
        case members(ChannelKey, [SessionID])
    }

    /// Sessions that wait for a request, in the order of their coming and each once.
    private struct Queue {
        private var order: Deque<SessionID> = []
        private var members: Set<SessionID> = []

        var isEmpty: Bool { order.isEmpty }

        mutating func add(_ session: SessionID) {
            if members.insert(session).inserted { order.append(session) }
        }

        /// Removes the sessions of the next request from the queue.
        mutating func takePage() -> [SessionID] {
            let page = Array(order.prefix(Reassertion.page))
            order.removeFirst(page.count)
            members.subtract(page)
            return page
        }
    }

    /// The sessions of users of one partition.
    private struct Part {
        var waiting = Queue()
        var failed: Set<SessionID> = []
        /// The requests that are not answered.
        var asked = 0

        var isDone: Bool { waiting.isEmpty && failed.isEmpty && asked == 0 }
    }

    /// By partition, those where there is something to do.
    private var parts: [Int: Part] = [:]
    /// The partitions with sessions that wait, in the order of their turns.
    private var turns: Deque<Int> = []
    private var members: [ChannelKey: Queue] = [:]
    /// The sessions whose reassertion as members failed.
    private var failedMembers: Set<SessionID> = []
    private var sessionsAsked = 0
    private var membersAsked = 0

    package init() {}

    /// Whether all sessions of a partition that were to be reasserted were sent to presence and answered.
    package func isAnswered(_ partition: Int) -> Bool { parts[partition] == nil }

    /// Queues sessions to be reasserted.
    /// - Parameter partition: that of the session's user; nil for a session that is not
    ///   held any more, which is left out.
    package mutating func want(_ wanted: some Sequence<SessionID>, _ partition: (SessionID) -> Int?) {
        for session in wanted {
            if let partition = partition(session) { add(session, partition) }
        }
    }

    private mutating func add(_ session: SessionID, _ partition: Int) {
        if parts[partition, default: Part()].waiting.isEmpty { turns.append(partition) }
        parts[partition, default: Part()].waiting.add(session)
    }

    /// The next request to send; nil when there is none or the bound is reached. Call it until it returns nil, and
    /// report the outcome of each request by one of the methods below.
    /// - Parameter isReachable: whether the master of a partition answers; the others' sessions wait.
    package mutating func next(isReachable: (Int) -> Bool) -> Request? {
        guard sessionsAsked + membersAsked < Self.bound else { return nil }
        if let turn = turns.firstIndex(where: isReachable) {
            let partition = turns.remove(at: turn)
            guard var part = parts[partition] else { return nil }
            sessionsAsked += 1
            part.asked += 1
            let page = part.waiting.takePage()
            if !part.waiting.isEmpty { turns.append(partition) }
            parts[partition] = part
            return .sessions(page, partition: partition)
        }
        // Channel-state accepts a member only when its session is known.
        guard sessionsAsked == 0, let channel = members.keys.first, var queue = members.removeValue(forKey: channel)
        else { return nil }
        membersAsked += 1
        let page = queue.takePage()
        if !queue.isEmpty { members[channel] = queue }
        return .members(channel, page)
    }

    /// Presence answered a request about a partition's sessions; `found` are those that are in a
    /// channel, whose memberships are queued.
    package mutating func answered(
        _ partition: Int, members found: [(session: SessionID, channel: ChannelKey)]
    ) {
        ended(partition, failed: [])
        for (session, channel) in found { members[channel, default: Queue()].add(session) }
    }

    /// Channel-state answered a request; `unknown` are sessions that it does not know, or not in this channel.
    package mutating func answered(unknown: [SessionID]) {
        membersAsked -= 1
        failedMembers.formUnion(unknown)
    }

    private mutating func ended(_ partition: Int, failed page: [SessionID]) {
        sessionsAsked -= 1
        guard var part = parts[partition] else { return }
        part.asked -= 1
        part.failed.formUnion(page)
        parts[partition] = part.isDone ? nil : part
    }

    /// A request failed or timed out.
    package mutating func failed(_ request: Request) {
        switch request {
        case .sessions(let page, let partition):
            ended(partition, failed: page)
        case .members(_, let page):
            membersAsked -= 1
            failedMembers.formUnion(page)
        }
    }

    /// Queues what failed again.
    /// - Parameter partition: as for ``want(_:_:)``.
    package mutating func retry(_ partition: (SessionID) -> Int?) {
        for (partition, part) in parts where !part.failed.isEmpty {
            parts[partition]?.failed = []
            for session in part.failed { add(session, partition) }
        }
        let again = failedMembers
        failedMembers = []
        want(again, partition)
    }
}
