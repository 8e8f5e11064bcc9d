public import DequeModule

/// The order of one session's calls: answered in the order they came, and one act at a time.
///
/// Messages may follow each other without waiting, because they travel on one ordered connection to Redis; everything
/// else waits for what is before it.
///
/// Inlinable, because a generic type of another module is otherwise not specialized, which cost more than all it does.
@frozen
public struct CallPipeline<Call>: ~Copyable {
    /// How a call may overlap with its neighbours.
    public enum Ordering: Sendable {
        /// May overlap with other messages.
        case message
        /// Waits for all before it, and all after it wait.
        case exclusive
    }

    /// Calls that wait at most; a client that sends more without reading answers is cut off.
    public static var bound: Int { 1024 }

    @usableFromInline internal var waiting: Deque<(call: Call, ordering: Ordering, bytes: Int)> = []
    @usableFromInline internal var bytesThatWait = 0
    @usableFromInline internal var messagesInFlight = 0
    @usableFromInline internal var exclusiveInFlight = false
    @usableFromInline internal var isHeld: Bool
    /// Whether calls wait because answers do: the client does not read them.
    public var isPaused = false

    /// What the calls that wait hold, as the caller counts it.
    @inlinable public var waitingBytes: Int { bytesThatWait }

    /// Whether calls wait for ``release()``.
    @inlinable public var isHolding: Bool { isHeld }

    /// A pipeline.
    /// - Parameter held: whether calls wait for ``release()`` (a session that is being resumed).
    @inlinable
    public init(held: Bool) { isHeld = held }

    /// What becomes of a new call.
    public enum Entry: Sendable {
        /// Start it now.
        case start
        /// It waits for its turn, see ``next()``.
        case wait
        /// ``bound`` is hit: it was not taken.
        case full
    }

    /// Takes a call, behind those that wait.
    /// - Parameter bytes: what it holds while it waits.
    @inlinable
    public mutating func enter(_ call: Call, _ ordering: Ordering, bytes: Int = 0) -> Entry {
        if waiting.isEmpty, mayStart(ordering) {
            started(ordering)
            return .start
        }
        guard waiting.count < Self.bound else { return .full }
        waiting.append((call, ordering, bytes))
        bytesThatWait += bytes
        return .wait
    }

    /// A started call was answered; ``next()`` may give others now.
    @inlinable
    public mutating func completed(_ ordering: Ordering) {
        switch ordering {
        case .message: messagesInFlight -= 1
        case .exclusive: exclusiveInFlight = false
        }
    }

    /// Lets held calls go; ``next()`` gives them.
    @inlinable
    public mutating func release() { isHeld = false }

    /// The call to start now, out of those that wait; to be asked again until there is none.
    @inlinable
    public mutating func next() -> Call? {
        guard let first = waiting.first, mayStart(first.ordering) else { return nil }
        started(first.ordering)
        bytesThatWait -= first.bytes
        return waiting.removeFirst().call
    }

    /// Forgets what waits (the session is over).
    @inlinable
    public mutating func abandon() {
        waiting.removeAll()
        bytesThatWait = 0
    }

    @inlinable
    func mayStart(_ ordering: Ordering) -> Bool {
        guard !isHeld, !isPaused, !exclusiveInFlight else { return false }
        return switch ordering {
        case .message: true
        case .exclusive: messagesInFlight == 0
        }
    }

    @inlinable
    mutating func started(_ ordering: Ordering) {
        switch ordering {
        case .message: messagesInFlight += 1
        case .exclusive: exclusiveInFlight = true
        }
    }
}
