internal import BusProtocol
internal import SignalingProtocol

/// The channel events that a resumed client has missed and that are still to be sent.
struct ChannelReplay: Sendable {
    /// The size in bytes of the events that are written together; a single larger event is written alone.
    private static let writeBytes = 65_536

    private var events: ArraySlice<ChannelEvent>
    /// Where to continue reading the log; nil when these events are the last.
    let next: ChannelPosition?
    /// The position after which the channel's live events follow; nil when unknown: then all held events follow.
    let activeAfter: ChannelPosition?

    /// - Parameters:
    ///   - page: the page that was read; nil when the read failed.
    ///   - last: the position of the channel's feed.
    init(_ page: ChannelLogPage?, last: ChannelPosition?) {
        events = page?.events[...] ?? []
        next = page?.more == true ? page?.through : nil
        activeAfter = page?.latest ?? last
    }

    /// A replay that begins with another read of the log.
    init(readAfter position: ChannelPosition) {
        events = []
        next = position
        activeAfter = nil
    }

    /// Removes and returns the events to write next; empty when all are written.
    mutating func takeNext() -> [ChannelEvent] {
        var bytes = 0
        let next = events.prefix { event in
            bytes += event.approximateBytes
            return bytes <= Self.writeBytes
        }
        let count = max(next.count, min(1, events.count))
        defer { events = events.dropFirst(count) }
        return Array(events.prefix(count))
    }
}

extension ChannelEvent {
    /// The approximate size of the event's frame.
    fileprivate var approximateBytes: Int {
        switch kind {
        case .message(let body): body.utf8.count + 256
        // An attribute's value may be as long as a message.
        case .attributes(.update(let attribute)): attribute.value.utf8.count + 256
        case .attributes, .joined, .left: 256
        }
    }
}
