public import SignalingProtocol

/// One connection's place in a channel: what it is shown, from the moment it asks to join.
///
/// Events that arrive between the request and its answer are held, so that the client sees the answer first and nothing
/// of the time before it.
public struct Membership: Sendable {
    /// Events held for a joiner at most; past it the connection is cut (it resumes from the log).
    public static let heldBound = 4096

    private enum State {
        /// The answer is awaited. Goes to `active`.
        case joining(held: [ChannelEvent])
        /// Events above `after` are shown.
        case active(after: Int64)
    }

    private var state = State.joining(held: [])

    /// A membership that was just asked for.
    public init() {}

    /// The sequence number above which events are shown; nil while the answer is awaited.
    public var shownAfter: Int64? {
        switch state {
        case .joining: nil
        case .active(let after): after
        }
    }

    /// Takes events for a joiner.
    /// - Returns: false when ``heldBound`` is hit.
    public mutating func hold(_ events: [ChannelEvent]) -> Bool {
        guard case .joining(var held) = state else { return true }
        state = .active(after: 0)
        held.append(contentsOf: events)
        let fits = held.count <= Self.heldBound
        state = .joining(held: held)
        return fits
    }

    /// The answer has come.
    /// - Returns: the held events above `sequence`, to be shown after the answer.
    public mutating func activate(after sequence: Int64) -> [ChannelEvent] {
        guard case .joining(let held) = state else { return [] }
        state = .active(after: sequence)
        return held.filter { $0.sequence > sequence }
    }
}
