internal import DequeModule
package import SignalingProtocol

/// What presence and channel-state are to be told of what a gateway holds: sessions first, and members when their sessions
/// were answered. What failed is told again with the next ``retry()``.
package struct Reassertion: Sendable {
    /// Sessions, or members of one channel, in one request.
    package static let page = 250
    /// Requests that await their answers at most.
    package static let bound = 4

    /// One thing to ask.
    package enum Request: Equatable, Sendable {
        /// Reassert these sessions.
        case sessions([SessionID])
        /// Reassert these sessions' users as members of the channel.
        case members(ChannelKey, [SessionID])
    }

    private var sessions: Deque<SessionID> = []
    private var waiting: Set<SessionID> = []
    private var members: [ChannelKey: [SessionID]] = [:]
    private var failed: Set<SessionID> = []
    private var sessionsAsked = 0
    private var membersAsked = 0

    /// Nothing to reassert.
    package init() {}

    /// Whether all was told and answered.
    package var isDone: Bool {
        sessions.isEmpty && members.isEmpty && failed.isEmpty && sessionsAsked == 0 && membersAsked == 0
    }

    /// These sessions are to be told of.
    package mutating func want(_ wanted: some Sequence<SessionID>) {
        for session in wanted where waiting.insert(session).inserted { sessions.append(session) }
    }

    /// The request to send now, each of which is to be answered by one of the methods below; to be asked again until there is
    /// none.
    package mutating func next() -> Request? {
        guard sessionsAsked + membersAsked < Self.bound else { return nil }
        if !sessions.isEmpty {
            sessionsAsked += 1
            let page = Array(sessions.prefix(Self.page))
            sessions.removeFirst(page.count)
            waiting.subtract(page)
            return .sessions(page)
        }
        // A member is made one only when its session is known.
        guard sessionsAsked == 0, let (channel, all) = members.first else { return nil }
        membersAsked += 1
        let page = Array(all.prefix(Self.page))
        members[channel] = all.count > page.count ? Array(all.dropFirst(page.count)) : nil
        return .members(channel, page)
    }

    /// Sessions were answered; those that are in a channel are its members.
    package mutating func answered(members found: [(session: SessionID, channel: ChannelKey)]) {
        sessionsAsked -= 1
        for (session, channel) in found { members[channel, default: []].append(session) }
    }

    /// Members were answered; the sessions of some were not known, or not to be in the channel.
    package mutating func answered(unknown: [SessionID]) {
        membersAsked -= 1
        failed.formUnion(unknown)
    }

    /// A request was not answered.
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

    /// Queues again what failed.
    package mutating func retry() {
        let again = failed
        failed = []
        want(again)
    }
}
