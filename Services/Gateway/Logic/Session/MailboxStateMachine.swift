internal import DequeModule
package import SignalingProtocol

/// One session's view of its user's mailbox: which entries wait, which the client has seen, when it is told.
///
/// The mailbox itself lives in Redis; this keeps a bounded window of it, fed by reads and by what is published to the
/// gateway, so that a poll is answered without a round trip and in one step with the notifies before it. Versions never fall,
/// but have gaps: what is published tells the version before it.
/// Source: wire protocol, sections 5 and 12.18.
package struct MailboxStateMachine: ~Copyable {
    /// Entries kept here at most; the rest waits in Redis.
    package static let windowBound = 512
    /// Bytes of lines in the window past which no more are taken. A byte is at most seven
    /// in a frame, so that a window full of the worst of them still fits into what may wait for a client.
    package static let windowBytes = Limits.mailboxAnswerBytes / 2

    private enum State {
        /// A read of the mailbox is under way; a poll waits for it. Goes to `ready`.
        case loading(Loading)
        /// The window holds the mailbox's first entries; `known` is the latest version that was heard of. Goes to `loading`.
        case ready
    }

    private struct Loading {
        /// Whether stale call events go first; asked for again when the read fails.
        var fresh = false
        var waitingPoll: Int?
        var highestPushed: Int64 = 0
        /// What polls have acknowledged meanwhile; a resumed client knows versions that the first read has yet to tell.
        var acknowledged: Int64 = 0
        /// Whether publications may have been lost since the read was asked for.
        var again = false
    }

    /// What the driver has to do, in this order.
    package enum Action: Equatable, Sendable {
        /// Read the mailbox above this version, then call ``loaded(_:)``. `fresh` drops stale call events first.
        case load(after: Int64, fresh: Bool)
        /// Answer the poll that is waiting.
        case answer(cleared: Int64, entries: [MailboxEntry])
        /// Tell the client that there is something to poll.
        case notify(version: Int64)
        /// Send the entry itself (clients that take pushes).
        case push(MailboxEntry)
        /// Forget entries up to this version in Redis.
        case clear(through: Int64)
        /// Versions fell: Redis came back older than it was. Count it.
        case fellBack
    }

    private let takesPushes: Bool
    private var state: State
    private var window: Deque<MailboxEntry> = []
    /// Bytes of the window's lines.
    private var windowLength = 0
    /// The highest version seen in a read or a publication; 0 before the first.
    private var known: Int64 = 0
    /// The last version that was given, as Redis told it last; falls when Redis comes back older than it was.
    package private(set) var latest: Int64 = 0
    /// The highest version that was ever forgotten for this user.
    private var cleared: Int64 = 0
    /// The version up to which the mailbox was read, or published without a gap.
    private var readThrough: Int64 = 0
    /// Entries above ``readThrough`` wait in Redis.
    private var moreInStore = false
    /// The highest version that was pushed to the client on this connection.
    private var pushedThrough: Int64 = 0

    /// A mailbox that was not read yet; ``start(fresh:)`` comes next.
    /// - Parameter takesPushes: whether the client asked for entries instead of notifies.
    package init(takesPushes: Bool) {
        self.takesPushes = takesPushes
        state = .loading(Loading())
    }

    /// Asks for the first read.
    /// - Parameter fresh: a new login, whose client cannot know the calls of the one before.
    package mutating func start(fresh: Bool) -> [Action] {
        state = .loading(Loading(fresh: fresh))
        return [.load(after: 0, fresh: fresh)]
    }

    /// A read has come back. Its `now` is the time that entries expire by.
    package mutating func loaded(_ page: MailboxPage) -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        state = .ready
        var actions = take(page)
        actions += acknowledge(loading.acknowledged)
        // Published while the read was under way, and not in it; or all that was read had expired: read on.
        let isBehind = loading.highestPushed > known || loading.again
        if isBehind || (window.isEmpty && moreInStore) {
            state = .loading(
                Loading(
                    waitingPoll: loading.waitingPoll, highestPushed: loading.highestPushed,
                    acknowledged: loading.acknowledged))
            return actions + [.load(after: readThrough, fresh: false)]
        }
        if let limit = loading.waitingPoll {
            return actions + answer(limit: limit, now: page.now)
        }
        return actions + announce(now: page.now)
    }

    private mutating func take(_ page: MailboxPage) -> [Action] {
        var actions: [Action] = []
        if page.highest < latest { actions.append(.fellBack) }
        latest = page.highest
        // Redis may have forgotten what was acknowledged, too; if that is still on its way, it comes twice.
        if page.cleared < cleared { actions.append(.clear(through: cleared)) }
        forget(through: page.cleared)
        readThrough = max(readThrough, cleared)
        moreInStore = page.more
        for entry in page.entries where entry.version > readThrough {
            moreInStore = windowLength >= Self.windowBytes || window.count >= Self.windowBound
            guard !moreInStore else { break }
            append(entry)
            readThrough = entry.version
            moreInStore = page.more
        }
        if !moreInStore || page.entries.isEmpty { readThrough = max(readThrough, page.through) }
        known = max(known, page.highest, window.last?.version ?? 0)
        return actions
    }

    /// A read has failed: the driver tries it again after its pause.
    package mutating func loadFailed() -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        return [.load(after: readThrough, fresh: loading.fresh)]
    }

    /// An entry was published.
    /// - Parameters:
    ///   - previous: the version that was given before it.
    ///   - now: milliseconds of the Redis clock.
    package mutating func pushed(_ entry: MailboxEntry, after previous: Int64, now: Int64) -> [Action] {
        switch state {
        case .loading(var loading):
            loading.highestPushed = max(loading.highestPushed, entry.version)
            state = .loading(loading)
            return []
        case .ready:
            // A repeated publication after a reconnect.
            guard entry.version > known else { return [] }
            guard previous <= latest else { return reload() }
            let fallen: [Action] = previous < latest ? [.fellBack] : []
            known = entry.version
            latest = entry.version
            if moreInStore || window.count >= Self.windowBound || windowLength >= Self.windowBytes {
                moreInStore = true
                return fallen + (takesPushes ? refill(now: now) : [.notify(version: known)])
            }
            append(entry)
            readThrough = entry.version
            return fallen + (takesPushes ? push(now: now) : [.notify(version: known)])
        }
    }

    /// The publications may have had a gap: the connection to Redis was renewed, or Redis tells of a version that is not
    /// ``latest``.
    package mutating func resynchronize() -> [Action] {
        switch state {
        case .loading(var loading):
            loading.again = true
            state = .loading(loading)
            return []
        case .ready:
            return reload()
        }
    }

    /// The client polls, which also acknowledges.
    /// - Parameters:
    ///   - verClear: the highest version that the client has processed; a lower one than before is ignored.
    ///   - limit: entries the client takes at most.
    ///   - now: milliseconds of the Redis clock.
    package mutating func poll(verClear: Int64, limit: Int, now: Int64) -> [Action] {
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

    private mutating func append(_ entry: MailboxEntry) {
        window.append(entry)
        windowLength += entry.line.utf8.count
    }

    private mutating func forget(through version: Int64) {
        cleared = max(cleared, version)
        while let first = window.first, first.version <= cleared {
            windowLength -= first.line.utf8.count
            window.removeFirst()
        }
    }

    private mutating func acknowledge(_ version: Int64) -> [Action] {
        let through = min(version, known)
        guard through > cleared else { return [] }
        forget(through: through)
        return [.clear(through: through)]
    }

    private mutating func reload(for limit: Int? = nil) -> [Action] {
        state = .loading(Loading(waitingPoll: limit))
        return [.load(after: max(readThrough, cleared), fresh: false)]
    }

    private mutating func answer(limit: Int, now: Int64) -> [Action] {
        dropExpired(now: now)
        if takesPushes {
            // Everything in the window was or is being pushed: the answer only acknowledges.
            return [.answer(cleared: cleared, entries: [])] + push(now: now)
        }
        if window.isEmpty, moreInStore { return reload(for: limit) }
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
        if takesPushes { return push(now: now) }
        return window.isEmpty && !moreInStore ? [] : [.notify(version: known)]
    }

    private mutating func push(now: Int64) -> [Action] {
        // Only at the end of the window are entries that were not pushed.
        var first = window.endIndex
        while first > window.startIndex, window[first - 1].version > pushedThrough { first -= 1 }
        var actions: [Action] = []
        for entry in window[first...] where entry.expiresAt > now { actions.append(.push(entry)) }
        pushedThrough = max(pushedThrough, window.last?.version ?? 0)
        return actions + refill(now: now)
    }

    /// Reads on for a client that takes pushes when it has processed half of the window: what waits for its acknowledgement is
    /// no more than a window. What has expired it may not have been sent, and it never acknowledges that.
    private mutating func refill(now: Int64) -> [Action] {
        guard moreInStore else { return [] }
        dropExpired(now: now)
        guard window.count < Self.windowBound / 2, windowLength < Self.windowBytes / 2 else { return [] }
        return reload()
    }

    private mutating func dropExpired(now: Int64) {
        guard window.contains(where: { $0.expiresAt <= now }) else { return }
        window.removeAll { $0.expiresAt <= now }
        windowLength = window.reduce(0) { $0 + $1.line.utf8.count }
    }
}
