package import BusProtocol
package import SignalingProtocol

/// Which of a channel's events are asked for, and in which order.
package struct HistoryRange: Equatable, Sendable {
    /// Only events with a higher id.
    package let above: Int64
    /// Only events with a lower id; nil for all.
    package let below: Int64?
    /// Whether the latest event comes first.
    package let isDescending: Bool

    /// - Parameters:
    ///   - position: the id after which the page begins, in its order; nil for its beginning.
    ///   - from: only events at this time or later, in Unix seconds; nil for all.
    ///   - until: only events before this time; nil for all.
    package init(isDescending: Bool, after position: Int64? = nil, from: Int64? = nil, until: Int64? = nil) {
        self.isDescending = isDescending
        // An id is a time in microseconds.
        let first = from.map { max($0 * 1_000_000 - 1, 0) } ?? 0
        let end = until.map { $0 * 1_000_000 }
        above = isDescending ? first : max(first, position ?? 0)
        below = isDescending ? [end, position].compactMap(\.self).min() : end
    }

    /// Whether no event is in it.
    package var isEmpty: Bool { below.map { $0 <= above + 1 } ?? false }
}

/// A page of a channel's log, put together of the parts that Redis returns.
package struct HistoryPage: Equatable, Sendable {
    /// Bytes of messages and attributes after which a page ends, though fewer events than asked for are in it.
    package static let bytesBound = 1 << 20
    /// Parts that are read for a page, of which a part may have no event that was asked for.
    package static let partsBound = 8

    /// Whether only messages are asked for.
    package let onlyMessages: Bool
    /// Events of the page at most.
    package let limit: Int
    /// Which events are asked for.
    package let range: HistoryRange
    /// Where to read on: above, or below where the page is descending; id 0 for the end of the log then.
    package private(set) var position: ChannelPosition
    /// The events so far.
    package private(set) var events: [ChannelEvent] = []
    /// Whether the page has no gap. There is one when the log no longer has the events right after the start position,
    /// or of a descending page, those before the last one.
    package private(set) var isComplete = true
    /// Whether the log may have further events after the page.
    package private(set) var hasNext = true
    private var bytes = 0
    private var parts = 0
    /// Bytes of all events that were read, those that were not asked for too.
    private var bytesRead = 0

    /// What reading the page has cost.
    package var work: APIWork { APIWork(calls: parts, bytes: bytesRead) }

    package init(onlyMessages: Bool, in range: HistoryRange, limit: Int) {
        self.onlyMessages = onlyMessages
        self.limit = limit
        self.range = range
        position = ChannelPosition(sequence: 0, id: range.isDescending ? range.below ?? 0 : range.above)
        if range.isEmpty { hasNext = false }
    }

    /// Takes what was read at ``position``.
    /// - Returns: whether to read on.
    package mutating func take(_ part: ChannelLogPage) -> Bool {
        parts += 1
        bytesRead += part.events.reduce(0) { $0 + $1.size }
        if !part.complete, !range.isDescending { isComplete = false }
        for event in part.events {
            guard events.count < limit, bytes < Self.bytesBound else { return false }
            if !range.isDescending, let below = range.below, event.id >= below {
                hasNext = false
                return false
            }
            position = ChannelPosition(sequence: event.sequence, id: event.id)
            guard !onlyMessages || event.isMessage else { continue }
            events.append(event)
            bytes += event.size
        }
        // Past events that this release does not know.
        position = part.through
        hasNext = part.more
        // Backwards, what is missing is before the part's last event: not in a page that ends earlier.
        if !part.complete { isComplete = false }
        return part.more && events.count < limit && bytes < Self.bytesBound && parts < Self.partsBound
    }
}

extension ChannelEvent {
    fileprivate var isMessage: Bool { if case .message = kind { true } else { false } }

    /// The bytes of its text.
    fileprivate var size: Int {
        switch kind {
        case .message(let text): text.utf8.count
        case .attributes(.update(let attribute)): attribute.value.utf8.count
        case .joined, .left, .attributes(.delete), .attributes(.clear): 0
        }
    }
}
