public import SignalingProtocol

/// The order of one channel's events at one gateway: each once, without gaps, whatever pub/sub loses or repeats.
public struct ChannelFeed: ~Copyable {
    /// Events kept while a gap is being filled, at most; past it the gap is given up.
    public static let bufferBound = 10_000

    private enum State {
        /// Nothing was seen yet. Goes to `following` with the first event or join.
        case unsynchronized
        /// All events up to `last` were given out. Goes to `filling` when one is missing.
        case following(last: Int64)
        /// The log is being read above `last`. Goes to `following`.
        case filling(last: Int64, held: [ChannelEvent])
    }

    /// What the driver has to do.
    public enum Action: Equatable, Sendable {
        /// Give these to the local members.
        case deliver([ChannelEvent])
        /// Read the channel's log above this sequence number, then call ``filled(_:)``.
        case readLog(after: Int64)
        /// Nothing.
        case none
    }

    private var state = State.unsynchronized

    /// A feed that has seen nothing.
    public init() {}

    /// The highest sequence number given out; nil before the first.
    public var last: Int64? {
        switch state {
        case .unsynchronized: nil
        case .following(let last), .filling(let last, _): last
        }
    }

    /// An event was published.
    public mutating func received(_ event: ChannelEvent) -> Action {
        switch state {
        case .unsynchronized:
            state = .following(last: event.sequence)
            return .deliver([event])
        case .following(let last):
            // At or below: published again after a reconnect.
            guard event.sequence > last else { return .none }
            guard event.sequence == last + 1 else {
                state = .filling(last: last, held: [event])
                return .readLog(after: last)
            }
            state = .following(last: event.sequence)
            return .deliver([event])
        case .filling(let last, var held):
            held.append(event)
            if held.count > Self.bufferBound {
                return finish(last: last, events: held)
            }
            state = .filling(last: last, held: held)
            return .none
        }
    }

    /// A local member joined at this sequence number.
    public mutating func joined(at sequence: Int64) {
        if case .unsynchronized = state { state = .following(last: sequence) }
    }

    /// Publications may have been lost (the connection to Redis was renewed).
    public mutating func resynchronize() -> Action {
        guard case .following(let last) = state else { return .none }
        state = .filling(last: last, held: [])
        return .readLog(after: last)
    }

    /// The log was read; nil when it could not be: what is held goes out, and the gap stays.
    public mutating func filled(_ page: ChannelLogPage?) -> Action {
        // The gap was given up meanwhile.
        guard case .filling(let last, let held) = state else { return .none }
        return finish(last: last, events: (page?.events ?? []) + held)
    }

    private mutating func finish(last: Int64, events: [ChannelEvent]) -> Action {
        var last = last
        var delivered: [ChannelEvent] = []
        for event in events.sorted(by: { $0.sequence < $1.sequence }) where event.sequence > last {
            delivered.append(event)
            last = event.sequence
        }
        state = .following(last: last)
        return delivered.isEmpty ? .none : .deliver(delivered)
    }
}
