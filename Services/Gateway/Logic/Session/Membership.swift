package import SignalingProtocol

/// Which of a channel's events one client is shown, from the moment that it asks to join.
///
/// Events that arrive between the request and its answer are held, so that the client sees the answer first, and no event
/// from before its join. The same goes for a member that joins again, whose answer holds the current lists, and for a change of
/// the channel's attributes, whose event comes before its answer.
package struct Membership: Sendable {
    /// Events held for one connection at most; past it the connection is cut (it resumes from the log).
    package static let heldBound = 4096

    private enum State {
        /// The answer is awaited. Goes to `active`.
        case joining(held: [ChannelEvent])
        /// Events are shown that ``Shown`` lets through. Goes to `paused`.
        case active(Shown)
        /// The answer to an act of a member is awaited. Goes to `active`.
        case paused(Shown, held: [ChannelEvent])
    }

    private struct Shown {
        /// Id of the last event before the member joined: it is shown none up to here.
        var after: Int64
        /// Id up to which the lists of a later join answer are current. Of the events up to here only messages are still shown,
        /// since no list holds them. 0: no later join was answered.
        var listed: Int64 = 0

        func contains(_ event: ChannelEvent) -> Bool {
            guard event.id > after else { return false }
            if case .message = event.kind { return true }
            return event.id > listed
        }
    }

    private var state = State.joining(held: [])

    /// A membership whose join is not answered yet.
    package init() {}

    /// The id above which all events are shown; nil while the answer is awaited.
    package var shownAfter: Int64? {
        switch state {
        case .joining, .paused: nil
        case .active(let shown): max(shown.after, shown.listed)
        }
    }

    /// Whether an event is shown; false while the answer is awaited.
    package func shows(_ event: ChannelEvent) -> Bool {
        guard case .active(let shown) = state else { return false }
        return shown.contains(event)
    }

    /// Keeps events until the awaited answer is written.
    /// - Returns: false when ``heldBound`` is hit.
    package mutating func hold(_ events: [ChannelEvent]) -> Bool {
        switch state {
        case .joining(var held):
            state = .joining(held: [])
            held.append(contentsOf: events)
            state = .joining(held: held)
            return held.count <= Self.heldBound
        case .paused(let shown, var held):
            state = .active(shown)
            held.append(contentsOf: events)
            state = .paused(shown, held: held)
            return held.count <= Self.heldBound
        case .active:
            return true
        }
    }

    /// The answer to the join has come, with lists as of `id`. A member that joined again missed no message meanwhile.
    /// - Returns: the held events that are neither older nor in the lists, to be shown after the answer.
    package mutating func activate(after id: Int64) -> [ChannelEvent] {
        switch state {
        case .joining(let held): return activate(Shown(after: id), held)
        case .paused(let shown, let held): return activate(Shown(after: shown.after, listed: id), held)
        case .active: return []
        }
    }

    private mutating func activate(_ shown: Shown, _ held: [ChannelEvent]) -> [ChannelEvent] {
        state = .active(shown)
        return held.filter(shown.contains)
    }

    /// Drops what is held, because a read of the log that is about to be made will bring it.
    package mutating func holdAnew() {
        if case .joining = state { state = .joining(held: []) }
    }

    /// A member asks for something whose event must not come before the answer.
    package mutating func pause() {
        if case .active(let shown) = state { state = .paused(shown, held: []) }
    }

    /// The answer to the member's act was written.
    /// - Returns: the held events, to be shown after it.
    package mutating func resume() -> [ChannelEvent] {
        guard case .paused(let shown, let held) = state else { return [] }
        return activate(shown, held)
    }
}
