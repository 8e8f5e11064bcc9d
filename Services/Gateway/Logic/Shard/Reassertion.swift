internal import DequeModule
package import SignalingProtocol

/// The sessions and members that a gateway still has to reassert to presence and channel-state, after Redis may have
/// lost them.
///
/// Sessions go first, and members once their sessions were answered. What failed is sent again after ``retry()``.
package struct Reassertion: Sendable {
    /// The most sessions, or members of one channel, in one request.
    package static let page = 250
    /// The most unanswered requests at a time.
    package static let bound = 4

    /// A request to send.
    package enum Request: Equatable, Sendable {
        /// Reassert these sessions to presence.
        case sessions([SessionID])
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

        /// Takes out those of the next request.
        mutating func takePage() -> [SessionID] {
            let page = Array(order.prefix(Reassertion.page))
            order.removeFirst(page.count)
            members.subtract(page)
            return page
        }
    }

    private var sessions = Queue()
    private var members: [ChannelKey: Queue] = [:]
    private var failed: Set<SessionID> = []
    private var sessionsAsked = 0
    private var membersAsked = 0

    package init() {}

    /// Whether everything was sent and answered.
    package var isDone: Bool {
        sessions.isEmpty && members.isEmpty && failed.isEmpty && sessionsAsked == 0 && membersAsked == 0
    }

    /// Queues sessions to be reasserted.
    package mutating func want(_ wanted: some Sequence<SessionID>) {
        for session in wanted { sessions.add(session) }
    }

    /// The next request to send; nil when there is none or the bound is reached. Call it until it returns nil, and
    /// report the outcome of each request by one of the methods below.
    package mutating func next() -> Request? {
        guard sessionsAsked + membersAsked < Self.bound else { return nil }
        if !sessions.isEmpty {
            sessionsAsked += 1
            return .sessions(sessions.takePage())
        }
        // Channel-state accepts a member only when its session is known.
        guard sessionsAsked == 0, let channel = members.keys.first, var queue = members.removeValue(forKey: channel)
        else { return nil }
        membersAsked += 1
        let page = queue.takePage()
        if !queue.isEmpty { members[channel] = queue }
        return .members(channel, page)
    }

    /// Presence answered a request; `found` are the sessions that are in a channel, whose memberships are queued.
    package mutating func answered(members found: [(session: SessionID, channel: ChannelKey)]) {
        sessionsAsked -= 1
        for (session, channel) in found { members[channel, default: Queue()].add(session) }
    }

    /// Channel-state answered a request; `unknown` are sessions that it does not know, or not in this channel.
    package mutating func answered(unknown: [SessionID]) {
        membersAsked -= 1
        failed.formUnion(unknown)
    }

    /// A request failed or timed out.
    package mutating func failed(_ request: Request) {
        switch request {
        case .sessions(let page):
            sessionsAsked -= 1
            failed.formUnion(page)
        case .members(_, let page):
            membersAsked -= 1
            failed.formUnion(page)
        }
    }

    /// Queues the failed sessions again.
    package mutating func retry() {
        let again = failed
        failed = []
        want(again)
    }
}
