public import SignalingProtocol

/// One connection's place in a channel: what it is shown, from the moment it asks to join.
///
/// Events that arrive between the request and its answer are held, so that the client sees the answer first and nothing
/// of the time before it. The same goes for a change of the channel's attributes, whose event comes before its answer.
public struct Membership: Sendable {
    /// Events held for one connection at most; past it the connection is cut (it resumes from the log).
    public static let heldBound = 4096

    private enum State {
        /// The answer is awaited. Goes to `active`.
        case joining(held: [ChannelEvent])
        /// Events above `after` are shown. Goes to `paused`.
        case active(after: Int64)
        /// The answer to an act of a member is awaited. Goes to `active`.
        case paused(after: Int64, held: [ChannelEvent])
    }

    private var state = State.joining(held: [])

    /// A membership that was just asked for.
    public init() {}

    /// The id above which events are shown; nil while the answer is awaited.
    public var shownAfter: Int64? {
        switch state {
        case .joining, .paused: nil
        case .active(let after): after
        }
    }

    /// Takes events for one who waits for an answer.
    /// - Returns: false when ``heldBound`` is hit.
    public mutating func hold(_ events: [ChannelEvent]) -> Bool {
        switch state {
        case .joining(var held):
            state = .active(after: 0)
            held.append(contentsOf: events)
            state = .joining(held: held)
            return held.count <= Self.heldBound
        case .paused(let after, var held):
            state = .active(after: after)
            held.append(contentsOf: events)
            state = .paused(after: after, held: held)
            return held.count <= Self.heldBound
        case .active:
            return true
        }
    }

    /// The answer has come.
    /// - Returns: the held events above `id`, to be shown after the answer.
    public mutating func activate(after id: Int64) -> [ChannelEvent] {
        guard case .joining(let held) = state else { return [] }
        state = .active(after: id)
        return held.filter { $0.id > id }
    }

    /// What came up to now is about to be read from the log: it need not be held.
    public mutating func holdAnew() {
        if case .joining = state { state = .joining(held: []) }
    }

    /// A member asks for something whose event must not come before the answer.
    public mutating func pause() {
        if case .active(let after) = state { state = .paused(after: after, held: []) }
    }

    /// That answer has come.
    /// - Returns: the held events, to be shown after it.
    public mutating func resume() -> [ChannelEvent] {
        guard case .paused(let after, let held) = state else { return [] }
        state = .active(after: after)
        return held.filter { $0.id > after }
    }
}
