internal import SignalingProtocol

/// The events that a resumed client has missed, and has yet to be shown.
struct ChannelReplay: Sendable {
    /// Bytes of events that are written together; a single larger event is written alone.
    private static let writeBytes = 65_536

    private var events: ArraySlice<ChannelEvent>
    /// Where the next read of the log starts; nil: these are the last.
    let next: ChannelPosition?
    /// Position after which the channel's live events follow; nil: not known, all that are held follow.
    let activeAfter: ChannelPosition?

    /// - Parameters:
    ///   - page: what was read; nil when it could not be.
    ///   - last: the position of the channel's feed.
    init(_ page: ChannelLogPage?, last: ChannelPosition?) {
        events = page?.events[...] ?? []
        next = page?.more == true ? page?.through : nil
        activeAfter = page?.latest ?? last
    }

    /// Takes what is written at once; empty when all is.
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
    /// Approximate size of its frame.
    fileprivate var approximateBytes: Int {
        switch kind {
        case .message(let body): body.utf8.count + 256
        // An attribute's value may be as long as a message.
        case .attributes(.update(let attribute)): attribute.value.utf8.count + 256
        case .attributes, .joined, .left: 256
        }
    }
}
