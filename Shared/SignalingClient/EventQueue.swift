internal import DequeModule
internal import NIOConcurrencyHelpers

/// The events of a client, in order, each once, for one consumer. Ends after the last event.
///
/// When ``ClientConfiguration/eventBound`` events wait here, the client stops reading from its gateway until half of them
/// are taken: take events while you wait for answers to calls. A second iteration that waits for an event ends the first.
public struct SignalingEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = SignalingEvent

    let queue: EventQueue

    /// Takes the events from here on.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Takes one event after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let queue: EventQueue

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next() async -> SignalingEvent? { await queue.next() }
    }
}

/// What waits between the event loop and the consumer. The driver bounds it: it stops reading.
final class EventQueue: Sendable {
    private typealias Consumer = CheckedContinuation<SignalingEvent?, Never>

    private struct State {
        var events: Deque<SignalingEvent> = []
        var isFinished = false
        var consumer: Consumer?
        /// Events that were taken and not reported yet.
        var taken = 0
        var onTaken: (@Sendable (Int) -> Void)?

        mutating func takeConsumer() -> Consumer? {
            defer { consumer = nil }
            return consumer
        }
    }

    private let state = NIOLockedValueBox(State())
    /// Events that are reported as taken at once.
    private let batch: Int

    /// - Parameter bound: the driver's bound; events taken are reported in parts of a quarter of it, or less.
    init(bound: Int) { batch = max(1, min(32, bound / 4)) }

    /// Calls back when events were taken, until the last event has come.
    func whenTaken(_ callback: @escaping @Sendable (Int) -> Void) { state.withLockedValue { $0.onTaken = callback } }

    func append(_ event: SignalingEvent) {
        let consumer = state.withLockedValue { state -> Consumer? in
            if event.isLast {
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

    func next() async -> SignalingEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0) }
        } onCancel: {
            state.withLockedValue { $0.takeConsumer() }?.resume(returning: nil)
        }
    }

    private func wait(_ continuation: Consumer) {
        let (event, isDone, earlier) = state.withLockedValue { state -> (SignalingEvent?, Bool, Consumer?) in
            if let event = state.events.popFirst() { return (event, true, nil) }
            // Asked under the lock: a cancellation that comes later finds the consumer.
            if state.isFinished || Task.isCancelled { return (nil, true, nil) }
            let earlier = state.takeConsumer()
            state.consumer = continuation
            return (nil, false, earlier)
        }
        // A second consumer takes the first one's place, which ends.
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
