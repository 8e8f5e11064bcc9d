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

    @usableFromInline internal var waiting: Deque<(call: Call, ordering: Ordering)> = []
    @usableFromInline internal var messagesInFlight = 0
    @usableFromInline internal var exclusiveInFlight = false
    @usableFromInline internal var isHeld: Bool

    /// A pipeline.
    /// - Parameter held: whether calls wait for ``release()`` (a session that is being resumed).
    @inlinable
    public init(held: Bool) { isHeld = held }

    /// Whether nothing waits or runs.
    public var isIdle: Bool { waiting.isEmpty && messagesInFlight == 0 && !exclusiveInFlight }

    /// Adds a call at the end.
    /// - Returns: the calls to start now, or nil when ``bound`` is hit.
    @inlinable
    public mutating func enqueue(_ call: Call, _ ordering: Ordering) -> [Call]? {
        guard waiting.count < Self.bound else { return nil }
        waiting.append((call, ordering))
        return startable()
    }

    /// A started call was answered.
    /// - Returns: the calls to start now.
    @inlinable
    public mutating func completed(_ ordering: Ordering) -> [Call] {
        switch ordering {
        case .message: messagesInFlight -= 1
        case .exclusive: exclusiveInFlight = false
        }
        return startable()
    }

    /// Lets held calls go.
    @inlinable
    public mutating func release() -> [Call] {
        isHeld = false
        return startable()
    }

    /// Forgets what waits (the session is over).
    @inlinable
    public mutating func abandon() { waiting.removeAll() }

    @inlinable
    mutating func startable() -> [Call] {
        guard !isHeld else { return [] }
        var started: [Call] = []
        while let next = waiting.first, !exclusiveInFlight {
            switch next.ordering {
            case .message: messagesInFlight += 1
            case .exclusive:
                guard messagesInFlight == 0 else { return started }
                exclusiveInFlight = true
            }
            waiting.removeFirst()
            started.append(next.call)
        }
        return started
    }
}
