package import BusProtocol
package import SignalingProtocol

/// Delivers one channel's events at one gateway in order, each once and without gaps, although pub/sub may lose or
/// repeat some.
///
/// Repeated events are recognised by their ids, which never decrease. Sequence numbers are used only to find gaps:
/// they decrease when Redis is restored to an older state, and the log is then read by id.
package struct ChannelFeed: ~Copyable {
    /// The most events held back while the log is read; past it they are dropped and read from the log afterwards.
    package static let bufferBound = 2000
    /// After this many complete reads of the log, a gap that the log does not fill is skipped.
    package static let attempts = 3

    private enum State {
        /// No event was seen yet. Next: `following`, with the first event or join.
        case unsynchronized
        /// All events up to `last` were delivered. Next: `filling`, when one is missing.
        case following(last: ChannelPosition)
        /// The log is being read after `last`. Next: `following`.
        case filling(last: ChannelPosition, Filling)
    }

    private struct Filling {
        /// Events published during the read.
        var held: [ChannelEvent] = []
        /// Whether the log must be read once more, because publications may have been lost
        /// since this read was requested.
        var again = false
        /// Complete reads of the log after which the gap before `held` remained.
        var attempts = 0
    }

    /// What the caller has to do.
    package enum Action: Equatable, Sendable {
        /// Deliver these to the local members.
        case deliver([ChannelEvent])
        /// Read the channel's log after this position, then call ``filled(_:)``.
        case readLog(after: ChannelPosition)
        /// Both, in this order.
        case deliverAndRead([ChannelEvent], after: ChannelPosition)
        /// The read failed: read the log after this position again, after a pause.
        case readLater(after: ChannelPosition)
        case none
    }

    private var state = State.unsynchronized
    /// How often sequence numbers decreased: each time Redis had been restored to an older state.
    package private(set) var resets = 0

    package init() {}

    /// The position of the last delivered event; nil before the first.
    package var last: ChannelPosition? {
        switch state {
        case .unsynchronized: nil
        case .following(let last), .filling(let last, _): last
        }
    }

    /// An event was published.
    package mutating func received(_ event: ChannelEvent) -> Action {
        switch state {
        case .unsynchronized:
            state = .following(last: event.position)
            return .deliver([event])
        case .following(let last):
            // A repetition, as after a reconnect.
            guard event.id > last.id else { return .none }
            guard event.sequence == last.sequence + 1 else {
                // The missing events are in the log, unless they were already trimmed from it.
                state = .filling(last: last, Filling(held: [event]))
                return .readLog(after: last)
            }
            state = .following(last: event.position)
            return .deliver([event])
        case .filling(let last, var filling):
            guard event.id > last.id else { return .none }
            state = .unsynchronized
            filling.held.append(event)
            if filling.held.count > Self.bufferBound { filling = Filling(again: true) }
            state = .filling(last: last, filling)
            return .none
        }
    }

    /// An event of an unknown kind was published. It counts as seen, and is not delivered.
    package mutating func skipped(at position: ChannelPosition) -> Action {
        switch state {
        case .unsynchronized:
            state = .following(last: position)
            return .none
        case .following(let last):
            guard position.id > last.id else { return .none }
            guard position.sequence == last.sequence + 1 else { return resynchronize() }
            state = .following(last: position)
            return .none
        case .filling:
            // It is not held back like other events, so the log must be read again, up to its position at least.
            return resynchronize()
        }
    }

    /// A local member joined at this position, where the feed starts if it has seen no event yet.
    package mutating func joined(at position: ChannelPosition) {
        if case .unsynchronized = state { state = .following(last: position) }
    }

    /// Publications may have been lost, because the connection to Redis was re-established.
    package mutating func resynchronize() -> Action {
        switch state {
        case .unsynchronized:
            return .none
        case .following(let last):
            state = .filling(last: last, Filling())
            return .readLog(after: last)
        case .filling(let last, var filling):
            filling.again = true
            state = .filling(last: last, filling)
            return .none
        }
    }

    /// A page of the log was read; nil when the read failed.
    package mutating func filled(_ page: ChannelLogPage?) -> Action {
        guard case .filling(let before, var filling) = state else { return .none }
        guard let page else { return .readLater(after: before) }
        var last = before
        var delivered = page.events.filter { $0.id > before.id }
        // A channel that no longer exists has the sequence number 0.
        if page.latest.sequence > 0 {
            let lowest = delivered.first.map { $0.sequence - 1 } ?? page.latest.sequence
            if lowest < before.sequence { resets += 1 }
            let through = page.more ? page.through : page.latest
            last = ChannelPosition(sequence: through.sequence, id: max(before.id, through.id))
        }
        filling.held.removeAll { $0.id <= last.id }
        if !page.more {
            filling.attempts += 1
            let isLost = !page.complete || filling.attempts >= Self.attempts
            deliverHeld(&filling, after: &last, to: &delivered, acrossGaps: isLost)
        }
        if page.more || filling.again || !filling.held.isEmpty {
            filling.again = page.more && filling.again
            state = .filling(last: last, filling)
            return delivered.isEmpty ? .readLog(after: last) : .deliverAndRead(delivered, after: last)
        }
        state = .following(last: last)
        return delivered.isEmpty ? .none : .deliver(delivered)
    }

    /// Appends held events to `delivered` up to the first gap; with `acrossGaps`, when the log can no longer fill the
    /// gaps, all of them.
    private func deliverHeld(
        _ filling: inout Filling, after last: inout ChannelPosition, to delivered: inout [ChannelEvent],
        acrossGaps: Bool
    ) {
        var count = 0
        for event in filling.held {
            guard event.sequence == last.sequence + 1 || acrossGaps else { break }
            delivered.append(event)
            last = event.position
            count += 1
        }
        filling.held.removeFirst(count)
    }
}

extension ChannelEvent {
    var position: ChannelPosition { ChannelPosition(sequence: sequence, id: id) }
}
