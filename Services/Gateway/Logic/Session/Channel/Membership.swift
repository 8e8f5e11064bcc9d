package import SignalingProtocol

/// Which of a channel's events one client receives, from its request to join on.
///
/// Events that arrive between the request and its answer are held, so that the client receives the answer first, and no
/// event from before its join. The same applies when a member joins again, because that answer contains the current
/// lists, and when it changes the channel's attributes, because the event is published before the answer.
package struct Membership: Sendable {
    /// The largest number of events held for one connection; above it the client is disconnected and resumes from the
    /// log.
    package static let heldBound = 4096

    private enum State {
        /// Waiting for the answer to the join, or for what was missed to be sent. Goes to `active`.
        case joining(Joining)
        /// Events pass if ``Shown`` allows. Goes to `paused`.
        case active(Shown)
        /// Waiting for the answer to another call of the member. Goes to `active`.
        case paused(Shown, held: [ChannelEvent])
    }

    private struct Joining {
        var held: [ChannelEvent] = []
        /// See ``Shown/listed``: the member has joined again meanwhile.
        var listed: Int64 = 0
        /// Whether the answer to another call of the member is awaited too.
        var isPaused = false
    }

    private struct Shown {
        /// The id of the last event before the join: events up to it are not sent.
        var after: Int64
        /// The id up to which the lists in the answer to a repeated join are current. Of the events up to it only
        /// messages are sent, because the lists do not contain those. 0 when there was no repeated join.
        var listed: Int64 = 0

        func contains(_ event: ChannelEvent) -> Bool {
            guard event.id > after else { return false }
            if case .message = event.kind { return true }
            return event.id > listed
        }
    }

    private var state = State.joining(Joining())

    /// Creates a membership whose join is not answered yet.
    package init() {}

    /// The id above which all events are sent; nil while an answer is awaited.
    package var shownAfter: Int64? {
        switch state {
        case .joining, .paused: nil
        case .active(let shown): max(shown.after, shown.listed)
        }
    }

    /// Whether the answer to a member's call is awaited.
    var isPaused: Bool {
        switch state {
        case .joining(let joining): joining.isPaused
        case .active: false
        case .paused: true
        }
    }

    /// Whether the client receives an event; false while an answer is awaited.
    package func shows(_ event: ChannelEvent) -> Bool {
        guard case .active(let shown) = state else { return false }
        return shown.contains(event)
    }

    /// Holds events until the awaited answer is written.
    /// - Returns: false when ``heldBound`` is exceeded.
    package mutating func hold(_ events: [ChannelEvent]) -> Bool {
        switch state {
        case .joining(var joining):
            state = .joining(Joining())
            joining.held.append(contentsOf: events)
            state = .joining(joining)
            return joining.held.count <= Self.heldBound
        case .paused(let shown, var held):
            state = .active(shown)
            held.append(contentsOf: events)
            state = .paused(shown, held: held)
            return held.count <= Self.heldBound
        case .active:
            return true
        }
    }

    /// Called when the answer to the join has arrived, with lists as of `id`. A member that joined again has missed no
    /// message.
    /// - Returns: the held events that are neither older nor contained in the lists, to be sent after the answer.
    package mutating func activate(after id: Int64) -> [ChannelEvent] {
        switch state {
        case .joining(let joining): return activate(Shown(after: id, listed: joining.listed), joining.held)
        case .paused(let shown, let held): return activate(Shown(after: shown.after, listed: id), held)
        case .active: return []
        }
    }

    private mutating func activate(_ shown: Shown, _ held: [ChannelEvent]) -> [ChannelEvent] {
        state = .active(shown)
        return held.filter(shown.contains)
    }

    /// Called when the answer to a repeated join has arrived, with lists as of `id`, while what was missed is still
    /// being read or sent: events are held until that ends.
    package mutating func listed(through id: Int64) {
        guard case .joining(var joining) = state else { return }
        state = .joining(Joining())
        joining.listed = id
        joining.isPaused = false
        state = .joining(joining)
    }

    /// The missed events that the client is sent: all but what the answer to a repeated join contains.
    package func missing(of events: [ChannelEvent]) -> [ChannelEvent] {
        guard case .joining(let joining) = state, joining.listed > 0 else { return events }
        let shown = Shown(after: 0, listed: joining.listed)
        return events.filter(shown.contains)
    }

    /// Drops the held events, because a read of the log that follows will contain them.
    package mutating func holdAnew() {
        guard case .joining(var joining) = state else { return }
        joining.held = []
        state = .joining(joining)
    }

    /// Holds events from now on, because a call was made whose event must not be sent before its answer.
    package mutating func pause() {
        switch state {
        case .joining(var joining):
            state = .joining(Joining())
            joining.isPaused = true
            state = .joining(joining)
        case .active(let shown): state = .paused(shown, held: [])
        case .paused: break
        }
    }

    /// Called when the answer to the member's call was written.
    /// - Returns: the held events, to be sent after it; none while others are to be sent before them.
    package mutating func resume() -> [ChannelEvent] {
        switch state {
        case .joining(var joining):
            state = .joining(Joining())
            joining.isPaused = false
            state = .joining(joining)
            return []
        case .active: return []
        case .paused(let shown, let held): return activate(shown, held)
        }
    }
}
