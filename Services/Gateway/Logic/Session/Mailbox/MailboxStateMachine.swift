package import BusProtocol
internal import DequeModule
package import SignalingProtocol

/// A session's view of its user's mailbox: which entries wait, which the client has received, when to notify it.
///
/// The mailbox itself is in Redis. A bounded window of it is kept here, filled by reads and by publications to the
/// gateway, so that a poll is answered without a round trip and in order with the notifies. Versions never decrease,
/// but have gaps; a publication therefore contains the previous version. Source: `Docs/protocol.md`, "The mailbox".
package struct MailboxStateMachine: ~Copyable {
    /// The largest number of entries in the window; the others stay in Redis.
    package static let windowBound = 512
    /// The size of the window's lines, in bytes, above which no more entries are added. In a frame a byte takes at most
    /// seven, so that even in the worst case the window fits into what may wait for a client.
    package static let windowBytes = Limits.mailboxAnswerBytes / 2

    /// The largest number of entries that wait for one before them.
    package static let earlyBound = 16

    /// An entry that was told of before the one before it.
    private struct EarlyEntry {
        let entry: MailboxEntry
        let previous: Int64
    }

    private enum State {
        /// The mailbox is being read; a poll waits for that. Goes to `ready`.
        indirect case loading(Loading)
        /// The window contains the mailbox's first entries. Goes to `loading`.
        case ready
    }

    private struct Loading {
        /// Whether to drop stale call events first; requested again when the read fails.
        var fresh = false
        var waitingPoll: Int?
        var highestPushed: Int64 = 0
        /// The version that polls have acknowledged meanwhile. A resumed client may know versions that the first read
        /// has yet to find.
        var acknowledged: Int64 = 0
        /// Whether publications may have been lost since the read was requested.
        var again = false
    }

    /// What the driver must do, in order.
    package enum Action: Equatable, Sendable {
        /// Read the mailbox above this version, then call ``loaded(_:)``. If `fresh`, stale call events are dropped
        /// first.
        case load(after: Int64, fresh: Bool)
        /// Answer the waiting poll.
        case answer(cleared: Int64, entries: [MailboxEntry])
        /// Notify the client that the mailbox has an entry.
        case notify(version: Int64)
        /// Push the entry to the client.
        case push(MailboxEntry)
        /// Delete entries up to this version in Redis.
        case clear(through: Int64)
        /// Call ``gapDue(_:)`` with this number after a pause: an entry was told of before the one before it.
        case awaitEarlier(gap: Int32)
        /// Count that versions have decreased, because Redis returned with older data.
        case fellBack
    }

    private let takesPushes: Bool
    private var state: State
    private var window: Deque<MailboxEntry> = []
    /// The size of the window's lines in bytes.
    private var windowLength = 0
    /// The highest version seen in a read or a publication; 0 before the first.
    private var known: Int64 = 0
    /// The last version assigned, according to Redis; decreases when Redis returns with older data.
    package private(set) var latest: Int64 = 0
    /// The highest version that was ever deleted for this user.
    private var cleared: Int64 = 0
    /// The version up to which entries were read, or published without a gap.
    private var readThrough: Int64 = 0
    /// Whether entries above ``readThrough`` wait in Redis.
    private var moreInStore = false
    /// The highest version pushed to the client on this connection.
    private var pushedThrough: Int64 = 0
    /// Entries of which the one before is not known, by version.
    private var early: [EarlyEntry] = []
    /// The number of times that ``early`` has got its first entry.
    private var gaps: Int32 = 0

    /// Creates a view of a mailbox that was not read yet; ``start(fresh:)`` must follow.
    /// - Parameter takesPushes: whether the client accepts pushed entries instead of notifies.
    package init(takesPushes: Bool) {
        self.takesPushes = takesPushes
        state = .loading(Loading())
    }

    /// Requests the first read.
    /// - Parameter fresh: whether this is a new session, whose client cannot know the calls of earlier sessions.
    package mutating func start(fresh: Bool) -> [Action] {
        state = .loading(Loading(fresh: fresh))
        return [.load(after: 0, fresh: fresh)]
    }

    /// Takes, instead of the first read, that nothing has waited.
    package mutating func start(_ empty: EmptyMailbox) -> [Action] {
        // No entry, so no time is needed by which one could have expired.
        let page = MailboxPage(
            cleared: empty.cleared, highest: empty.highest, entries: [], now: RedisTime(milliseconds: 0))
        return loaded(page)
    }

    /// Takes the result of a read. Entries expire relative to its `now`.
    package mutating func loaded(_ page: MailboxPage) -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        state = .ready
        var actions = take(page)
        actions += acknowledge(loading.acknowledged)
        // An entry was published during the read and is not in the result, or all entries read had expired: continue
        // reading.
        let isBehind = loading.highestPushed > known || loading.again
        if isBehind || (window.isEmpty && moreInStore) {
            // Without ``Loading/highestPushed``: a read that begins after an entry was published finds it, or Redis has
            // lost it.
            state = .loading(Loading(waitingPoll: loading.waitingPoll, acknowledged: loading.acknowledged))
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
        // Redis may have lost the deletion of acknowledged entries. If it is only delayed, it is done twice.
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

    /// Called when a read has failed; the driver repeats it after a pause.
    package mutating func loadFailed() -> [Action] {
        guard case .loading(let loading) = state else { return [] }
        return [.load(after: readThrough, fresh: loading.fresh)]
    }

    /// Takes a published entry.
    /// - Parameters:
    ///   - previous: the version assigned before it.
    ///   - now: the present moment; nil while it is unknown, when no entry counts as expired.
    package mutating func pushed(_ entry: MailboxEntry, after previous: Int64, now: RedisTime?) -> [Action] {
        switch state {
        case .loading(var loading):
            loading.highestPushed = max(loading.highestPushed, entry.version)
            state = .loading(loading)
            return []
        case .ready:
            // A repeated publication, as after a reconnect.
            guard entry.version > known else { return [] }
            guard previous <= latest else { return hold(EarlyEntry(entry: entry, previous: previous)) }
            let actions = add(entry, after: previous, now: now)
            return early.isEmpty ? actions : actions + addEarly(now: now)
        }
    }

    private mutating func add(_ entry: MailboxEntry, after previous: Int64, now: RedisTime?) -> [Action] {
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

    // MARK: - Entries that overtake others

    /// Keeps an entry until the one before it is told of. Entries of senders at this gateway come by another connection
    /// to Redis than those of others, so one may overtake the other by a moment.
    private mutating func hold(_ newcomer: EarlyEntry) -> [Action] {
        guard early.count < Self.earlyBound else { return reload() }
        let place = early.firstIndex { $0.entry.version >= newcomer.entry.version } ?? early.endIndex
        // It may be told of twice, as after a reconnect.
        if place < early.endIndex, early[place].entry.version == newcomer.entry.version { return [] }
        early.insert(newcomer, at: place)
        guard early.count == 1 else { return [] }
        gaps &+= 1
        return [.awaitEarlier(gap: gaps)]
    }

    /// Adds the entries whose turn has come.
    private mutating func addEarly(now: RedisTime?) -> [Action] {
        var actions: [Action] = []
        while case .ready = state, let first = early.first, first.previous <= latest {
            early.removeFirst()
            if first.entry.version > known { actions += add(first.entry, after: first.previous, now: now) }
        }
        // Frees the memory, because hardly any mailbox has such entries.
        if early.isEmpty { early = [] }
        return actions
    }

    /// Called some time after ``Action/awaitEarlier(gap:)``: an entry that is still missing was lost on its way.
    package mutating func gapDue(_ gap: Int32) -> [Action] {
        guard case .ready = state, gap == gaps, !early.isEmpty else { return [] }
        return reload()
    }

    /// Called when publications may have been lost: the connection to Redis was renewed, or Redis reports a version
    /// other than ``latest``.
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

    /// Handles the client's poll, which also acknowledges entries.
    /// - Parameters:
    ///   - verClear: the highest version that the client has processed; one lower than before is ignored.
    ///   - limit: the largest number of entries in the answer.
    ///   - now: the present moment; nil while it is unknown, when no entry counts as expired.
    package mutating func poll(verClear: Int64, limit: Int, now: RedisTime?) -> [Action] {
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
        // The read finds those that wait for others, too.
        early = []
        state = .loading(Loading(waitingPoll: limit))
        return [.load(after: max(readThrough, cleared), fresh: false)]
    }

    private mutating func answer(limit: Int, now: RedisTime?) -> [Action] {
        dropExpired(now: now)
        if takesPushes {
            // Everything in the window was or is being pushed, so the answer only acknowledges.
            return [.answer(cleared: cleared, entries: [])] + push(now: now)
        }
        if window.isEmpty, moreInStore { return reload(for: limit) }
        let page = firstPage(limit)
        let remains = window.count > page.count || moreInStore
        return [.answer(cleared: cleared, entries: page)] + (remains ? [.notify(version: known)] : [])
    }

    /// The entries of one answer: as many as fit into ``Limits/mailboxAnswerBytes``, but at least one.
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

    private mutating func announce(now: RedisTime?) -> [Action] {
        dropExpired(now: now)
        if takesPushes { return push(now: now) }
        return window.isEmpty && !moreInStore ? [] : [.notify(version: known)]
    }

    private mutating func push(now: RedisTime?) -> [Action] {
        // The entries that were not pushed are at the end of the window.
        var first = window.endIndex
        while first > window.startIndex, window[first - 1].version > pushedThrough { first -= 1 }
        var actions: [Action] = []
        for entry in window[first...] where !entry.hasExpired(at: now) { actions.append(.push(entry)) }
        pushedThrough = max(pushedThrough, window.last?.version ?? 0)
        return actions + refill(now: now)
    }

    /// Reads on, for a client that accepts pushes, when it has processed half of the window; so at most a window waits
    /// for its acknowledgement. Expired entries may not have been sent, and it never acknowledges those.
    private mutating func refill(now: RedisTime?) -> [Action] {
        guard moreInStore else { return [] }
        dropExpired(now: now)
        guard window.count < Self.windowBound / 2, windowLength < Self.windowBytes / 2 else { return [] }
        return reload()
    }

    private mutating func dropExpired(now: RedisTime?) {
        guard window.contains(where: { $0.hasExpired(at: now) }) else { return }
        window.removeAll { $0.hasExpired(at: now) }
        windowLength = window.reduce(0) { $0 + $1.line.utf8.count }
    }
}

extension MailboxEntry {
    /// Whether the entry must not be delivered any more; false while the time is unknown. Compares the numbers, since
    /// operators of another module are not inlined.
    fileprivate func hasExpired(at now: RedisTime?) -> Bool {
        guard let now else { return false }
        return expiresAt.milliseconds <= now.milliseconds
    }
}
