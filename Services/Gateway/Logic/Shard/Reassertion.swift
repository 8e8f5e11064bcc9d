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

    private var sessions: Deque<SessionID> = []
    private var waiting: Set<SessionID> = []
    private var members: [ChannelKey: [SessionID]] = [:]
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
        for session in wanted where waiting.insert(session).inserted { sessions.append(session) }
    }

    /// The next request to send; nil when there is none or the bound is reached. Call it until it returns nil, and
    /// report the outcome of each request by one of the methods below.
    package mutating func next() -> Request? {
        guard sessionsAsked + membersAsked < Self.bound else { return nil }
        if !sessions.isEmpty {
            sessionsAsked += 1
            let page = Array(sessions.prefix(Self.page))
            sessions.removeFirst(page.count)
            waiting.subtract(page)
            return .sessions(page)
        }
        // Channel-state accepts a member only when its session is known.
        guard sessionsAsked == 0, let (channel, all) = members.first else { return nil }
        membersAsked += 1
        let page = Array(all.prefix(Self.page))
        members[channel] = all.count > page.count ? Array(all.dropFirst(page.count)) : nil
        return .members(channel, page)
    }

    /// Presence answered a request; `found` are the sessions that are in a channel, whose memberships are queued.
    package mutating func answered(members found: [(session: SessionID, channel: ChannelKey)]) {
        sessionsAsked -= 1
        for (session, channel) in found { members[channel, default: []].append(session) }
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
