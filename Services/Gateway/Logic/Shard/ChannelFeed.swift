package import SignalingProtocol

/// The order of one channel's events at one gateway: each once, without gaps, whatever pub/sub loses or repeats.
///
/// What is known is told by the event's id, which never falls. Sequence numbers tell gaps only: they fall when Redis comes
/// back older than it was, and then the log is read by id.
package struct ChannelFeed: ~Copyable {
    /// Events kept while the log is being read, at most; past it they are left to another read.
    package static let bufferBound = 2000
    /// Whole reads of the log after which a gap that it does not fill is passed over.
    package static let attempts = 3

    private enum State {
        /// Nothing was seen yet. Goes to `following` with the first event or join.
        case unsynchronized
        /// All events up to `last` were given out. Goes to `filling` when one is missing.
        case following(last: ChannelPosition)
        /// The log is being read above `last`. Goes to `following`.
        case filling(last: ChannelPosition, Filling)
    }

    private struct Filling {
        /// Published meanwhile.
        var held: [ChannelEvent] = []
        /// Whether publications may have been lost since the read was asked for.
        var again = false
        /// Reads of the whole log that left a gap before what is held.
        var attempts = 0
    }

    /// What the driver has to do.
    package enum Action: Equatable, Sendable {
        /// Give these to the local members.
        case deliver([ChannelEvent])
        /// Read the channel's log above this position, then call ``filled(_:)``.
        case readLog(after: ChannelPosition)
        /// Both, in this order.
        case deliverAndRead([ChannelEvent], after: ChannelPosition)
        /// The read failed: the same after a pause.
        case readLater(after: ChannelPosition)
        /// Nothing.
        case none
    }

    private var state = State.unsynchronized
    /// How often numbers fell: Redis came back older than it was.
    package private(set) var resets = 0

    /// A feed that has seen nothing.
    package init() {}

    /// The last event given out; nil before the first.
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
            // Published again after a reconnect.
            guard event.id > last.id else { return .none }
            guard event.sequence == last.sequence + 1 else {
                // It is in the log, unless that was cut off behind it.
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

    /// A local member joined at this position.
    package mutating func joined(at position: ChannelPosition) {
        if case .unsynchronized = state { state = .following(last: position) }
    }

    /// Publications may have been lost (the connection to Redis was renewed).
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

    /// The log was read; nil when it could not be.
    package mutating func filled(_ page: ChannelLogPage?) -> Action {
        guard case .filling(let before, var filling) = state else { return .none }
        guard let page else { return .readLater(after: before) }
        var last = before
        var delivered = page.events.filter { $0.id > before.id }
        // A channel that is gone has no numbers.
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

    /// Gives out held events as far as none is missing. Behind a gap that the log no longer fills, all of them: to wait
    /// longer would bring nothing.
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
    /// Where it stands.
    var position: ChannelPosition { ChannelPosition(sequence: sequence, id: id) }
}
