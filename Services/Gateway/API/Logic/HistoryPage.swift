package import BusProtocol
package import SignalingProtocol

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
    /// Where to read on.
    package private(set) var position: ChannelPosition
    /// The events so far, ascending.
    package private(set) var events: [ChannelEvent] = []
    /// Whether the page has no gap. There is one when the log no longer has the events right after the start position.
    package private(set) var isComplete = true
    /// Whether the log may have further events after the page.
    package private(set) var hasNext = true
    private var bytes = 0
    private var parts = 0
    /// Bytes of all events that were read, those that were not asked for too.
    private var bytesRead = 0

    /// What reading the page has cost.
    package var work: APIWork { APIWork(calls: parts, bytes: bytesRead) }

    /// - Parameter id: that of the event after which the page begins; 0 for the first that the log has.
    package init(onlyMessages: Bool, after id: Int64, limit: Int) {
        self.onlyMessages = onlyMessages
        self.limit = limit
        position = ChannelPosition(sequence: 0, id: id)
    }

    /// Takes what was read at ``position``.
    /// - Returns: whether to read on.
    package mutating func take(_ part: ChannelLogPage) -> Bool {
        parts += 1
        bytesRead += part.events.reduce(0) { $0 + $1.size }
        if !part.complete { isComplete = false }
        for event in part.events {
            guard events.count < limit, bytes < Self.bytesBound else { return false }
            position = ChannelPosition(sequence: event.sequence, id: event.id)
            guard !onlyMessages || event.isMessage else { continue }
            events.append(event)
            bytes += event.size
        }
        // Past events that this release does not know.
        position = part.through
        hasNext = part.more
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
