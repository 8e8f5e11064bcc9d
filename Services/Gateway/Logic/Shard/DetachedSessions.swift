package import BusProtocol
internal import DequeModule
package import Pacing
package import SignalingProtocol

/// The sessions that lost their connections at this gateway a short time ago. No gateway holds them, so that only this
/// table can tell presence of them after Redis has lost its data.
///
/// ``DetachedRates`` is a table of its own: it also has the rates of sessions that have
/// ended, and only for a few seconds.
package struct DetachedSessions: Sendable {
    /// The most sessions that are remembered; the oldest are forgotten first.
    package static let bound = 65_536
    /// How long a session is remembered: the longest `_conn_timeout`. After that it has ended, unless it was resumed.
    package static let time = LocalTime.Span(.seconds(Limits.connectionTimeout.upperBound))

    /// A session that is remembered.
    package struct Entry: Equatable, Sendable {
        /// What the gateway held when the connection was lost.
        package let held: HeldSession
        /// When the connection was lost.
        package let lostAt: LocalTime
    }

    private var entries: [SessionID: Entry] = [:]
    /// The sessions in the order of their losses, the oldest first. A session that was
    /// forgotten stays until its turn comes.
    private var order: Deque<(session: SessionID, lostAt: LocalTime)> = []

    /// Creates an empty table.
    package init() {}

    /// The number of sessions that are remembered.
    package var count: Int { entries.count }

    /// Remembers a session whose connection was lost at `now`, which is never before the loss of another one.
    /// - Returns: whether an older session was forgotten for it, because there were too many.
    package mutating func keep(_ held: HeldSession, now: LocalTime) -> Bool {
        let session = held.line.session
        entries[session] = Entry(held: held, lostAt: now)
        order.append((session, now))
        dropPast(now: now)
        var isFull = false
        while entries.count > Self.bound, let oldest = order.popFirst() {
            guard isCurrent(oldest) else { continue }
            entries[oldest.session] = nil
            isFull = true
        }
        if order.count > 2 * Self.bound { order.removeAll { [entries] in entries[$0.session]?.lostAt != $0.lostAt } }
        return isFull
    }

    /// The session was resumed or has ended.
    package mutating func forget(_ session: SessionID) { entries[session] = nil }

    /// A session that is remembered; nil when it is not, or not any more.
    package func entry(of session: SessionID, now: LocalTime) -> Entry? {
        entries[session].flatMap { now - $0.lostAt <= Self.time ? $0 : nil }
    }

    /// The sessions that are remembered and concerned, the oldest first.
    package mutating func sessions(now: LocalTime, where isConcerned: (HeldSession) -> Bool) -> [SessionID] {
        dropPast(now: now)
        return order.compactMap { item in
            guard isCurrent(item), let entry = entries[item.session], isConcerned(entry.held) else { return nil }
            return item.session
        }
    }

    private mutating func dropPast(now: LocalTime) {
        while let oldest = order.first, !isCurrent(oldest) || now - oldest.lostAt > Self.time {
            if isCurrent(oldest) { entries[oldest.session] = nil }
            order.removeFirst()
        }
    }

    /// Whether the session has not been forgotten or remembered anew since.
    private func isCurrent(_ item: (session: SessionID, lostAt: LocalTime)) -> Bool {
        entries[item.session]?.lostAt == item.lostAt
    }
}
