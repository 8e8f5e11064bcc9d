import DequeModule
package import Pacing
package import SignalingProtocol
package import SignalingWire

/// A call that has arrived, until it is started.
package struct QueuedCall: Equatable, Sendable {
    /// The facts needed to answer the call.
    package fileprivate(set) var ticket: CallTicket
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
    /// A message's number among the session's messages, given when it is started (0 before); -1 for an exclusive call.
    ///
    /// One field says both the number and the ordering, see ``StartedCall`` for why size matters.
    var number: Int32

    /// How the call may overlap with other calls.
    package var ordering: CallPipeline.Ordering { number < 0 ? .exclusive : .message }

    /// Creates the facts about a call that is not started yet.
    package init(id: String, ordering: CallPipeline.Ordering, arrivedAt: LocalTime) {
        self.id = id
        self.arrivedAt = arrivedAt
        number = ordering == .message ? 0 : -1
    }
}

/// An answer to a message that came before those to earlier messages.
package struct EarlyAnswer: Sendable {
    /// The message.
    package let ticket: CallTicket
    /// Its answer.
    package let result: Result<ReplyBody, SignalingError>
}

/// The order of one session's calls: they are answered in the order of their arrival, and one is executed at a time.
///
/// Messages may follow each other without waiting; everything else waits for all calls before it. Messages to users of
/// one master of Redis are carried out in their order; those to users of several are not, and some are refused before
/// others are answered, so answers that come early are kept. While too much waits, the client is not read from.
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
    /// Answers to messages of which an earlier one is unanswered.
    private var earlyAnswers: [EarlyAnswer] = []
    // Narrow integers, because each connection has them.
    private var bytesThatWait: Int32 = 0
    /// The number of the message that is started next. Messages get their numbers when they are started, because only a
    /// started message is certain to be answered: one that still waits when the session ends is dropped.
    private var nextMessage: Int32 = 0
    /// The number of the message whose answer the client gets next; ``nextMessage`` if all messages are answered.
    private var nextAnswer: Int32 = 0
    private var exclusiveInFlight = false
    private var isHeld: Bool
    /// Whether ``regulateReading()`` has decided last that the client is not read from.
    private var isReadingPaused = false
    /// Whether messages do not overlap either, because each of them waits for the app's server.
    package var isSerial = false
    /// Whether calls are held back because the client does not read the answers.
    package var isPaused = false

    /// The number of bytes that the waiting calls occupy.
    package var waitingBytes: Int { Int(bytesThatWait) }

    /// Whether a call waits for its turn or for its answer.
    package var owesAnswers: Bool { exclusiveInFlight || nextMessage != nextAnswer || !waiting.isEmpty }

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

    /// Adds a call behind those that wait, or marks it as started.
    package mutating func enter(_ call: inout QueuedCall) -> Entry {
        if waiting.isEmpty, mayStart(call.ticket) {
            markStarted(&call.ticket)
            return .start
        }
        guard waiting.count < Self.bound else { return .full }
        waiting.append(call)
        bytesThatWait += Int32(call.bytes)
        return .wait
    }

    /// Whether all calls before a started one have been answered; if not, ``keep(_:_:)`` its answer.
    package func isNext(_ ticket: CallTicket) -> Bool {
        ticket.ordering == .exclusive || ticket.number == nextAnswer
    }

    /// Keeps an answer until its turn comes.
    package mutating func keep(_ ticket: CallTicket, _ result: Result<ReplyBody, SignalingError>) {
        earlyAnswers.append(EarlyAnswer(ticket: ticket, result: result))
    }

    /// Removes and returns the kept answer whose turn it is. It counts as given by ``completed(_:)``, as any other.
    package mutating func nextKept() -> EarlyAnswer? {
        guard !earlyAnswers.isEmpty else { return nil }
        return earlyAnswers.firstIndex { $0.ticket.number == nextAnswer }.map { earlyAnswers.remove(at: $0) }
    }

    /// Records that a started call was answered; ``next()`` may then return others.
    package mutating func completed(_ ordering: Ordering) {
        switch ordering {
        case .message: nextAnswer = Self.number(after: nextAnswer)
        case .exclusive: exclusiveInFlight = false
        }
    }

    /// Holds all calls until ``release()``, as while the session is being resumed.
    package mutating func hold() { isHeld = true }

    /// Lets held calls proceed; ``next()`` returns them.
    package mutating func release() { isHeld = false }

    /// Removes and returns the waiting call to start now; call it again until it returns nil.
    package mutating func next() -> QueuedCall? {
        guard mayStartNext else { return nil }
        var first = waiting.removeFirst()
        markStarted(&first.ticket)
        bytesThatWait -= Int32(first.bytes)
        return first
    }

    /// Whether ``next()`` would return a call.
    package var mayStartNext: Bool { waiting.first.map { mayStart($0.ticket) } ?? false }

    /// Decides whether to read from the client: not while it leaves answers unread, or too many bytes of calls wait.
    /// - Returns: the decision if it has changed, else nil.
    package mutating func regulateReading() -> Bool? {
        let pauses = isPaused || waitingBytes >= (isHeld ? Limits.heldCallBytes : Limits.waitingCallBytes)
        guard pauses != isReadingPaused else { return nil }
        isReadingPaused = pauses
        return !pauses
    }

    /// Drops the waiting calls, because the session has ended.
    package mutating func abandon() {
        waiting.removeAll()
        bytesThatWait = 0
    }

    /// How a call that is started now overlaps with others.
    private func presentOrdering(_ ticket: CallTicket) -> Ordering { isSerial ? .exclusive : ticket.ordering }

    private func mayStart(_ ticket: CallTicket) -> Bool {
        guard !isHeld, !isPaused, !exclusiveInFlight else { return false }
        return switch presentOrdering(ticket) {
        case .message: true
        case .exclusive: nextMessage == nextAnswer
        }
    }

    private mutating func markStarted(_ ticket: inout CallTicket) {
        switch presentOrdering(ticket) {
        case .message:
            ticket.number = nextMessage
            nextMessage = Self.number(after: nextMessage)
        case .exclusive:
            ticket.number = -1
            exclusiveInFlight = true
        }
    }

    /// Counts from 0 to the largest number, and then from 0 again.
    static func number(after number: Int32) -> Int32 { (number &+ 1) & .max }
}
