package import SignalingProtocol

/// One connection's place in a channel: what it is shown, from the moment it asks to join.
///
/// Events that arrive between the request and its answer are held, so that the client sees the answer first and nothing
/// of the time before it. The same goes for a member that joins again, whose answer has the lists anew, and for a change of
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
        /// What is at or below was there before the member.
        var after: Int64
        /// Lists were given that have all up to here; only messages are in no list. 0 for none since `after`.
        var listed: Int64 = 0

        func contains(_ event: ChannelEvent) -> Bool {
            guard event.id > after else { return false }
            if case .message = event.kind { return true }
            return event.id > listed
        }
    }

    private var state = State.joining(held: [])

    /// A membership that was just asked for.
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

    /// Takes events for one who waits for an answer.
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

    /// What came up to now is about to be read from the log: it need not be held.
    package mutating func holdAnew() {
        if case .joining = state { state = .joining(held: []) }
    }

    /// A member asks for something whose event must not come before the answer.
    package mutating func pause() {
        if case .active(let shown) = state { state = .paused(shown, held: []) }
    }

    /// That answer has come.
    /// - Returns: the held events, to be shown after it.
    package mutating func resume() -> [ChannelEvent] {
        guard case .paused(let shown, let held) = state else { return [] }
        return activate(shown, held)
    }
}
