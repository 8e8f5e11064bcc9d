internal import DequeModule
internal import NIOConcurrencyHelpers

/// The events of a client, in order, each delivered once, to one consumer. Ends after the last event.
///
/// When ``ClientConfiguration/eventBound`` events are waiting, the client stops reading from its gateway until half of
/// them are taken; so keep taking events while you wait for answers to calls. If a second iteration waits for an event,
/// the first one ends.
public struct SignalingEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = SignalingEvent

    let queue: EventQueue<SignalingEvent>

    /// Starts taking events.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Takes one event after another.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let queue: EventQueue<SignalingEvent>

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next() async -> SignalingEvent? { await queue.next() }
    }
}

/// The events between the event loop and the consumer. Whoever appends bounds their number.
package final class EventQueue<Event: Sendable>: Sendable {
    private typealias Consumer = CheckedContinuation<Event?, Never>

    private struct State {
        var events: Deque<Event> = []
        var isFinished = false
        var consumer: Consumer?
        /// The number of events that were taken but not reported to the driver yet.
        var taken = 0
        var onTaken: (@Sendable (Int) -> Void)?

        mutating func takeConsumer() -> Consumer? {
            defer { consumer = nil }
            return consumer
        }
    }

    private let state = NIOLockedValueBox(State())
    /// The number of taken events that are reported together.
    private let batch: Int

    /// - Parameter bound: the most events that wait; taken events are reported in batches of at most a quarter of it.
    package init(bound: Int) { batch = max(1, min(32, bound / 4)) }

    /// Sets a callback that is called when events have been taken, until the last event has arrived.
    package func whenTaken(_ callback: @escaping @Sendable (Int) -> Void) {
        state.withLockedValue { $0.onTaken = callback }
    }

    /// The events that wait.
    package var count: Int { state.withLockedValue { $0.events.count } }

    /// Appends an event.
    /// - Parameter isLast: whether no further one follows.
    package func append(_ event: Event, isLast: Bool) {
        let consumer = state.withLockedValue { state -> Consumer? in
            if isLast {
                state.isFinished = true
                state.onTaken = nil
            }
            if let consumer = state.takeConsumer() { return consumer }
            state.events.append(event)
            return nil
        }
        guard let consumer else { return }
        consumer.resume(returning: event)
        reportTaken()
    }

    /// The next event; nil after the last one, and when the task is cancelled.
    package func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0) }
        } onCancel: {
            state.withLockedValue { $0.takeConsumer() }?.resume(returning: nil)
        }
    }

    private func wait(_ continuation: Consumer) {
        let (event, isDone, earlier) = state.withLockedValue { state -> (Event?, Bool, Consumer?) in
            if let event = state.events.popFirst() { return (event, true, nil) }
            // Checked while holding the lock: a later cancellation finds the waiting consumer.
            if state.isFinished || Task.isCancelled { return (nil, true, nil) }
            let earlier = state.takeConsumer()
            state.consumer = continuation
            return (nil, false, earlier)
        }
        // A second consumer replaces the first one, whose iteration ends.
        earlier?.resume(returning: nil)
        if isDone { continuation.resume(returning: event) }
        if event != nil { reportTaken() }
    }

    private func reportTaken() {
        let (count, callback) = state.withLockedValue { state -> (Int, (@Sendable (Int) -> Void)?) in
            state.taken += 1
            guard state.taken >= batch else { return (0, nil) }
            defer { state.taken = 0 }
            return (state.taken, state.onTaken)
        }
        callback?(count)
    }
}
