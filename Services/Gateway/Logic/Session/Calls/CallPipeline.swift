import DequeModule
package import SignalingProtocol
package import SignalingWire

/// A call that has arrived, until it is started.
package struct QueuedCall: Equatable, Sendable {
    /// The facts needed to answer the call.
    package let ticket: CallTicket
    /// The parsed call, or the error with which it is refused.
    package let call: Result<ClientCall, SignalingError>
    /// The size in bytes of the client's frame, which the call occupies while it waits.
    package let bytes: Int

    /// Creates a queued call.
    package init(ticket: CallTicket, call: Result<ClientCall, SignalingError>, bytes: Int) {
        self.ticket = ticket
        self.call = call
        self.bytes = bytes
    }
}

/// The facts needed to answer a call.
package struct CallTicket: Equatable, Sendable {
    /// The id that the client gave the call, returned unchanged.
    package let id: String
    /// When the call arrived. Its deadline is counted from here, however long it waits for its turn.
    package let arrivedAt: LocalTime
    /// How the call may overlap with other calls.
    package let ordering: CallPipeline.Ordering

    /// Creates the facts about a call.
    package init(id: String, ordering: CallPipeline.Ordering, arrivedAt: LocalTime) {
        self.id = id
        self.ordering = ordering
        self.arrivedAt = arrivedAt
    }
}

/// The order of one session's calls: they are answered in the order of their arrival, and one is executed at a time.
///
/// Messages may follow each other without waiting, because they travel on one ordered connection to Redis; everything
/// else waits for all calls before it. While too much waits, the client is not read from.
package struct CallPipeline: ~Copyable {
    /// How a call may overlap with other calls.
    package enum Ordering: Sendable {
        /// It may overlap with other messages.
        case message
        /// It waits for all calls before it, and all after it wait for it.
        case exclusive
    }

    /// The largest number of waiting calls; a client that sends more without reading answers is disconnected.
    package static let bound = 1024

    private var waiting: Deque<QueuedCall> = []
    private var bytesThatWait = 0
    private var messagesInFlight = 0
    private var exclusiveInFlight = false
    private var isHeld: Bool
    /// Whether ``regulateReading()`` has decided last that the client is not read from.
    private var isReadingPaused = false
    /// Whether calls are held back because the client does not read the answers.
    package var isPaused = false

    /// The number of bytes that the waiting calls occupy.
    package var waitingBytes: Int { bytesThatWait }

    /// Creates a pipeline without calls.
    /// - Parameter held: whether calls wait for ``release()``.
    package init(held: Bool) { isHeld = held }

    /// What to do with a new call.
    package enum Entry: Sendable {
        /// Start it now.
        case start
        /// Nothing: it waits for its turn, see ``next()``.
        case wait
        /// Refuse it: ``bound`` is reached, and it was not queued.
        case full
    }

    /// Adds a call behind those that wait.
    package mutating func enter(_ call: QueuedCall) -> Entry {
        if waiting.isEmpty, mayStart(call.ticket.ordering) {
            started(call.ticket.ordering)
            return .start
        }
        guard waiting.count < Self.bound else { return .full }
        waiting.append(call)
        bytesThatWait += call.bytes
        return .wait
    }

    /// Records that a started call was answered; ``next()`` may then return others.
    package mutating func completed(_ ordering: Ordering) {
        switch ordering {
        case .message: messagesInFlight -= 1
        case .exclusive: exclusiveInFlight = false
        }
    }

    /// Holds all calls until ``release()``, as while the session is being resumed.
    package mutating func hold() { isHeld = true }

    /// Lets held calls proceed; ``next()`` returns them.
    package mutating func release() { isHeld = false }

    /// Removes and returns the waiting call to start now; call it again until it returns nil.
    package mutating func next() -> QueuedCall? {
        guard let first = waiting.first, mayStart(first.ticket.ordering) else { return nil }
        started(first.ticket.ordering)
        bytesThatWait -= first.bytes
        return waiting.removeFirst()
    }

    /// Whether ``next()`` would return a call.
    package var mayStartNext: Bool { waiting.first.map { mayStart($0.ticket.ordering) } ?? false }

    /// Decides whether to read from the client: not while it leaves answers unread, or too many bytes of calls wait.
    /// - Returns: the decision if it has changed, else nil.
    package mutating func regulateReading() -> Bool? {
        let pauses = isPaused || bytesThatWait >= (isHeld ? Limits.heldCallBytes : Limits.waitingCallBytes)
        guard pauses != isReadingPaused else { return nil }
        isReadingPaused = pauses
        return !pauses
    }

    /// Drops the waiting calls, because the session has ended.
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
