import DequeModule
package import SignalingProtocol
package import SignalingWire

/// A call on its way through the pipeline.
package struct QueuedCall: Equatable, Sendable {
    /// What is needed of the call to answer it.
    package let turn: CallTurn
    /// What is asked, or why it is refused.
    package let call: Result<ClientCall, SignalingError>
    /// Bytes of the client's frame, which the call holds while it waits.
    package let bytes: Int

    /// A call.
    package init(turn: CallTurn, call: Result<ClientCall, SignalingError>, bytes: Int) {
        self.turn = turn
        self.call = call
        self.bytes = bytes
    }
}

/// What is needed of a call to answer it.
package struct CallTurn: Equatable, Sendable {
    /// The client's own number, written back as it came.
    package let id: String
    /// How the call may overlap with its neighbours.
    package let ordering: CallPipeline.Ordering
    /// When the call came, in nanoseconds of the event loop's clock: its deadline counts from then on, however long it
    /// waits for its turn.
    package let arrivedAt: UInt64

    /// A call's turn.
    package init(id: String, ordering: CallPipeline.Ordering, arrivedAt: UInt64) {
        self.id = id
        self.ordering = ordering
        self.arrivedAt = arrivedAt
    }
}

/// The order of one session's calls: answered in the order they came, and one act at a time.
///
/// Messages may follow each other without waiting, because they travel on one ordered connection to Redis; everything
/// else waits for what is before it.
package struct CallPipeline: ~Copyable {
    /// How a call may overlap with its neighbours.
    package enum Ordering: Sendable {
        /// May overlap with other messages.
        case message
        /// Waits for all before it, and all after it wait.
        case exclusive
    }

    /// Calls that wait at most; a client that sends more without reading answers is cut off.
    package static let bound = 1024

    private var waiting: Deque<QueuedCall> = []
    private var bytesThatWait = 0
    private var messagesInFlight = 0
    private var exclusiveInFlight = false
    private var isHeld: Bool
    /// Whether calls wait because answers do: the client does not read them.
    package var isPaused = false

    /// Bytes that the waiting calls hold.
    package var waitingBytes: Int { bytesThatWait }

    /// Whether calls wait for ``release()``.
    package var isHolding: Bool { isHeld }

    /// A pipeline.
    /// - Parameter held: whether calls wait for ``release()`` (a session that is being resumed).
    package init(held: Bool) { isHeld = held }

    /// What becomes of a new call.
    package enum Entry: Sendable {
        /// Start it now.
        case start
        /// It waits for its turn, see ``next()``.
        case wait
        /// ``bound`` is hit: it was not taken.
        case full
    }

    /// Takes a call, behind those that wait.
    package mutating func enter(_ call: QueuedCall) -> Entry {
        if waiting.isEmpty, mayStart(call.turn.ordering) {
            started(call.turn.ordering)
            return .start
        }
        guard waiting.count < Self.bound else { return .full }
        waiting.append(call)
        bytesThatWait += call.bytes
        return .wait
    }

    /// A started call was answered; ``next()`` may give others now.
    package mutating func completed(_ ordering: Ordering) {
        switch ordering {
        case .message: messagesInFlight -= 1
        case .exclusive: exclusiveInFlight = false
        }
    }

    /// Lets held calls go; ``next()`` gives them.
    package mutating func release() { isHeld = false }

    /// The call to start now, out of those that wait; to be asked again until there is none.
    package mutating func next() -> QueuedCall? {
        guard let first = waiting.first, mayStart(first.turn.ordering) else { return nil }
        started(first.turn.ordering)
        bytesThatWait -= first.bytes
        return waiting.removeFirst()
    }

    /// Whether ``next()`` gives a call.
    package var mayStartNext: Bool { waiting.first.map { mayStart($0.turn.ordering) } ?? false }

    /// Forgets what waits (the session is over).
    package mutating func abandon() {
        waiting.removeAll()
        bytesThatWait = 0
    }

    private func mayStart(_ ordering: Ordering) -> Bool {
        guard !isHeld, !isPaused, !exclusiveInFlight else { return false }
        return switch ordering {
        case .message: true
        case .exclusive: messagesInFlight == 0
        }
    }

    private mutating func started(_ ordering: Ordering) {
        switch ordering {
        case .message: messagesInFlight += 1
        case .exclusive: exclusiveInFlight = true
        }
    }
}
