internal import DequeModule
public import SignalingProtocol

/// One session's view of its user's mailbox: which entries wait, which the client has seen, when it is told.
///
/// The mailbox itself lives in Redis; this keeps a bounded window of it, fed by reads and by what is published to the
/// gateway, so that a poll is answered without a round trip and in one step with the notifies before it.
/// Source: wire protocol, sections 5 and 12.18.
public struct MailboxStateMachine: ~Copyable {
    /// Entries kept here at most; the rest waits in Redis.
    public static let windowBound = 512

    private enum State {
        /// A read of the mailbox is under way; a poll waits for it. Goes to `ready`.
        case loading(Loading)
        /// The window is the mailbox's start, and `known` its end as far as was told. Goes to `loading`.
        case ready
    }

    private struct Loading {
        /// Whether stale call events go first; asked for again when the read fails.
        var fresh = false
        var waitingPoll: Int?
        var highestPushed: Int64 = 0
        /// What polls have acknowledged meanwhile; a resumed client knows versions that the first read has yet to tell.
        var acknowledged: Int64 = 0
    }

    /// What the driver has to do, in this order.
    public enum Action: Equatable, Sendable {
        /// Read the mailbox above this version, then call ``loaded(_:now:)``. `fresh` drops stale call events first.
        case load(after: Int64, fresh: Bool)
        /// Answer the poll that is waiting.
        case answer(cleared: Int64, entries: [MailboxEntry])
        /// Tell the client that there is something to poll.
        case notify(version: Int64)
        /// Send the entry itself (clients that take pushes).
        case push(MailboxEntry)
        /// Forget entries up to this version in Redis.
        case clear(through: Int64)
    }

    private let takesPushes: Bool
    private var state: State
    private var window: Deque<MailboxEntry> = []
    /// The highest version seen in a read or a publication; 0 before the first.
    private var known: Int64 = 0
    /// The highest version that was ever forgotten for this user.
    private var cleared: Int64 = 0
    /// Entries above the window's last wait in Redis.
    private var moreInStore = false
    /// The highest version that was pushed to the client on this connection.
    private var pushedThrough: Int64 = 0

    /// A mailbox whose first read is the caller's next act.
    /// - Parameter takesPushes: whether the client asked for entries instead of notifies.
    public init(takesPushes: Bool) {
        self.takesPushes = takesPushes
        state = .loading(Loading())
    }

    /// What to do first.
    /// - Parameter fresh: a new login, whose client cannot know the calls of the one before.
    public mutating func start(fresh: Bool) -> [Action] {
        state = .loading(Loading(fresh: fresh))
        return [.load(after: 0, fresh: fresh)]
    }

    /// A read has come back.
    /// - Parameter now: milliseconds of the Redis clock.
    public mutating func loaded(_ page: MailboxPage, now: Int64) -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        state = .ready
        cleared = max(cleared, page.cleared)
        for entry in page.entries where entry.version > (window.last?.version ?? cleared) && entry.version > cleared {
            window.append(entry)
        }
        moreInStore = page.more
        known = max(known, page.highest, window.last?.version ?? 0)
        let actions = acknowledge(loading.acknowledged)
        // Published while the read was under way, and not in it: read on.
        if loading.highestPushed > known {
            state = .loading(Loading(waitingPoll: loading.waitingPoll, acknowledged: loading.acknowledged))
            return actions + [.load(after: window.last?.version ?? known, fresh: false)]
        }
        if let limit = loading.waitingPoll {
            return actions + answer(limit: limit, now: now)
        }
        return actions + announce(now: now)
    }

    /// A read has failed: the driver tries it again after its pause.
    public mutating func loadFailed() -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        return [.load(after: window.last?.version ?? cleared, fresh: loading.fresh)]
    }

    /// An entry was published.
    public mutating func pushed(_ entry: MailboxEntry, now: Int64) -> [Action] {
        switch state {
        case .loading(var loading):
            loading.highestPushed = max(loading.highestPushed, entry.version)
            state = .loading(loading)
            return []
        case .ready:
            // A repeated publication after a reconnect.
            guard entry.version > known else { return [] }
            guard known == 0 || entry.version == known + 1 else { return reload() }
            known = entry.version
            if moreInStore || window.count >= Self.windowBound {
                moreInStore = true
                return takesPushes ? [] : [.notify(version: known)]
            }
            window.append(entry)
            return takesPushes ? push(now: now) : [.notify(version: known)]
        }
    }

    /// The publications may have had a gap (the connection to Redis was renewed).
    public mutating func resynchronize() -> [Action] {
        guard case .ready = state else { return [] }
        return reload()
    }

    /// The client polls, which also acknowledges.
    /// - Parameters:
    ///   - verClear: the highest version that the client has processed; a lower one than before is no news.
    ///   - limit: entries the client takes at most.
    public mutating func poll(verClear: Int64, limit: Int, now: Int64) -> [Action] {
        let actions = acknowledge(verClear)
        switch state {
        case .loading(var loading):
            loading.waitingPoll = limit
            loading.acknowledged = max(loading.acknowledged, verClear)
            state = .loading(loading)
            return actions
        case .ready:
            return actions + answer(limit: limit, now: now)
        }
    }

    // MARK: - The parts

    private mutating func acknowledge(_ version: Int64) -> [Action] {
        let through = min(version, known)
        guard through > cleared else { return [] }
        cleared = through
        while let first = window.first, first.version <= through { window.removeFirst() }
        return [.clear(through: through)]
    }

    private mutating func reload() -> [Action] {
        state = .loading(Loading())
        return [.load(after: window.last?.version ?? cleared, fresh: false)]
    }

    private mutating func answer(limit: Int, now: Int64) -> [Action] {
        dropExpired(now: now)
        if takesPushes {
            // Everything in the window was or is being pushed: the answer only acknowledges.
            let refill = moreInStore && window.count < Self.windowBound / 2 ? reload() : []
            return [.answer(cleared: cleared, entries: [])] + push(now: now) + refill
        }
        if window.isEmpty, moreInStore {
            state = .loading(Loading(waitingPoll: limit))
            return [.load(after: cleared, fresh: false)]
        }
        let page = firstPage(limit)
        let remains = window.count > page.count || moreInStore
        return [.answer(cleared: cleared, entries: page)] + (remains ? [.notify(version: known)] : [])
    }

    /// The entries of one answer: those that fit into ``Limits/mailboxAnswerBytes``, one at least.
    private func firstPage(_ limit: Int) -> [MailboxEntry] {
        var bytes = 0
        var page: [MailboxEntry] = []
        for entry in window.prefix(limit) {
            bytes += entry.line.utf8.count
            guard page.isEmpty || bytes <= Limits.mailboxAnswerBytes else { break }
            page.append(entry)
        }
        return page
    }

    private mutating func announce(now: Int64) -> [Action] {
        dropExpired(now: now)
        guard !window.isEmpty || moreInStore else { return [] }
        return takesPushes ? push(now: now) : [.notify(version: known)]
    }

    private mutating func push(now: Int64) -> [Action] {
        // Only at the end of the window are entries that were not pushed.
        var first = window.endIndex
        while first > window.startIndex, window[first - 1].version > pushedThrough { first -= 1 }
        var actions: [Action] = []
        for entry in window[first...] where entry.expiresAt > now { actions.append(.push(entry)) }
        pushedThrough = max(pushedThrough, window.last?.version ?? 0)
        return actions
    }

    private mutating func dropExpired(now: Int64) {
        guard window.contains(where: { $0.expiresAt <= now }) else { return }
        window.removeAll { $0.expiresAt <= now }
    }
}
